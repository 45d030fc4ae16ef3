package httpapi

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// DecodeLoosely is Decode for handlers that check the values themselves: faults of values come back in invalid, to be
// told together with those that the command finds; what cannot be read at all is err.
func DecodeLoosely[T any](c *Call) (in T, invalid, err error) {
	in, err = Decode[T](c)
	if failure.KindOf(err) == failure.Invalid {
		return in, err, nil
	}
	return in, nil, err
}
