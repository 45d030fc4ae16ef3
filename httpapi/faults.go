package httpapi

import (
	"errors"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// AsFailureError is errors.As for a failure.
func AsFailureError(err error, into **failure.Error) bool { return errors.As(err, into) }

// Under puts a path before the field of each fault.
func Under(path string, err error) error {
	var f *failure.Error
	if !errors.As(err, &f) {
		return err
	}
	var moved failure.Faults
	for _, fault := range f.Faults {
		moved = append(moved, path+fault)
	}
	return moved.Err()
}

// JoinFaults is one failure with the faults of several, the first of each field; an error of another kind wins.
func JoinFaults(errs ...error) error {
	var all failure.Faults
	told := map[string]bool{}
	for _, err := range errs {
		var f *failure.Error
		switch {
		case err == nil:
		case errors.As(err, &f) && f.Kind == failure.Invalid:
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

// DecodeLoosely is Decode for handlers that check the values themselves: faults of values come back in invalid, to be
// told together with those that the command finds; what cannot be read at all is err.
func DecodeLoosely[T any](c *Call) (in T, invalid, err error) {
	in, err = Decode[T](c)
	if failure.KindOf(err) == failure.Invalid {
		return in, err, nil
	}
	return in, nil, err
}
