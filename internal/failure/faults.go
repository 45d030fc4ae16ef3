package failure

import (
	"errors"
	"strings"
)

// Under puts a path before the field of each fault, so that faults of a part become faults of the whole. An error
// without faults is returned unchanged.
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

// JoinFaults makes one Invalid failure of several, so that a form shows all its faults at once. When several errors
// name the same field, only the faults of the first error count for it. An error of another kind, and one about
// no field, is returned alone.
func JoinFaults(errs ...error) error {
	var all Faults
	told := map[string]bool{}
	for _, err := range errs {
		var f *Error
		switch {
		case err == nil:
		case errors.As(err, &f) && f.Kind == Invalid && len(f.Faults) > 0:
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
