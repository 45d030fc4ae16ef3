package failure

import (
	"errors"
	"strings"
)

// Under puts a path before the field of each fault: those of a part, told as faults of the whole. An error without
// faults stays as it is.
func Under(path string, err error) error {
	var f *Error
	if !errors.As(err, &f) || len(f.Faults) == 0 {
		return err
	}
	var moved Faults
	for _, fault := range f.Faults {
		moved = append(moved, path+fault)
	}
	return moved.Err()
}

// JoinFaults is one Invalid failure with the faults of several, so that somebody who fills in a form hears all of them
// at once. Of a field that several name, the first one's faults count. An error of another kind wins over all faults.
func JoinFaults(errs ...error) error {
	var all Faults
	told := map[string]bool{}
	for _, err := range errs {
		var f *Error
		switch {
		case err == nil:
		case errors.As(err, &f) && f.Kind == Invalid:
			var fresh []string
			for _, fault := range f.Faults {
				field, _, _ := strings.Cut(fault, " ")
				if !told[field] {
					fresh = append(fresh, field)
					all = append(all, fault)
				}
			}
			for _, field := range fresh {
				told[field] = true
			}
		default:
			return err
		}
	}
	return all.Err()
}
