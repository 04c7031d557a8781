"""Tables of the user (arrays, DataFrames, Arrow) as arrays with names, and back; internal."""
