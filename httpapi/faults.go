package httpapi

import "github.com/lastmile-isp/lastmile/internal/failure"

// DecodeLoosely is Decode for handlers that check the values themselves. Faults of values are returned as invalid, so
// that they can be reported together with those that the command finds; a body that cannot be read is err.
func DecodeLoosely[T any](c *Call) (in T, invalid, err error) {
	in, err = Decode[T](c)
	if failure.KindOf(err) == failure.Invalid {
		return in, err, nil
	}
	return in, nil, err
}
