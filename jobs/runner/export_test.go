package jobrunner

// QuietForTest makes the logger that River gets.
var QuietForTest = newQuiet
