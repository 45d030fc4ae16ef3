package subscribersviews

// ListSQL is the statement of a list, for its plan to be read.
var ListSQL = listSQL
