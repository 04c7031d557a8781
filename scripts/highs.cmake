# CMake settings for the build of HiGHS, named by HOST_CMAKE_TOOLCHAIN_FILE (scripts/setup).
#
# Compiles 16 source files at once: the headers of HiGHS take most of the time of small files. On two
# cores the build takes about half as long. Larger batches would leave cores idle on machines with
# many.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
# CMake's default is -O3, whose larger code would take the program beyond its limit
# (scripts/check-size). Labels of 150 CVRP20 instances took 3.8 to 4.4 s with -O3 and 3.9 to 4.2 s with
# -O2, four integer programs of testdata/mps 1.20 to 1.32 s and 1.15 to 1.29 s (AMD EPYC).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
