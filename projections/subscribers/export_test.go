package subscribersviews

// ListSQL lets tests outside of the package explain the statement of a list.
var ListSQL = listSQL
