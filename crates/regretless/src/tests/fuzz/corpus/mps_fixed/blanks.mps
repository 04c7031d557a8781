NAME          A MODEL
ROWS
 N  TOTAL CO
 L  ROOM 1
 G  MIN OUT
 E  B
COLUMNS
    X ONE     TOTAL CO           1.5   ROOM 1               2
    X ONE     B                    1
    MARKER    'MARKER'                 'INTORG'
    Y 2 Z     TOTAL CO            -2   MIN OUT            1.0
    Y 2 Z     ROOM 1               1
    MARKER                 'MARKER'                 'INTEND'
    W         ROOM 1            -.5    B                    1
RHS
    R H S     ROOM 1              10   MIN OUT              1
    R H S     TOTAL CO            -7   B                    4
RANGES
    RNG       ROOM 1               4
BOUNDS
 UP BND       Y 2 Z                5
 FR BND       W
 LO BND       X ONE               .5
ENDATA
