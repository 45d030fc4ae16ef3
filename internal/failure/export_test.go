package failure

// FaultTexts lets tests outside of the package see the texts that have a code.
func FaultTexts() map[string]string { return faultTexts }
