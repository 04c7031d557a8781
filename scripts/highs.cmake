# CMake settings for the build of HiGHS, named by HOST_CMAKE_TOOLCHAIN_FILE (scripts/setup).
#
# Compiles 16 source files at once: the headers of HiGHS take most of the time of small files. On two
# cores the build takes about half as long; optimization is that of a release as before. Larger
# batches would leave cores idle on machines with many.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
