NAME          T
ROWS
 N  COST
 L  LIM ONE
COLUMNS
    A B       COST                 1   LIM ONE              1
    C         COST                -1   LIM ONE              2
RHS
              LIM ONE              4
BOUNDS
 BV           A B
 UP           C                    1
ENDATA
