package script

// CountedHere checks a script in the process of the test.
func CountedHere(source, tagPrefix string) (string, error) { return counted(source, tagPrefix) }

// CheckHere is CountedHere without the text.
func CheckHere(source, tagPrefix string) error {
	_, err := counted(source, tagPrefix)
	return err
}
