package billingviews

// CollectedRowsSQL lets tests outside of the package explain the statement of a list.
var CollectedRowsSQL = collectedRowsSQL
