package webhooks

import (
	"errors"
	"net/url"
	"strconv"

	"github.com/lastmile-isp/lastmile/internal/egress"
)

// Check fails when an endpoint cannot have an address: it is an https URL, in development also an http one. The address
// of a name is checked at each call. The text of the error goes behind the name of a field.
func (c *Client) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return errors.New("must be a plain https address")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !c.guard.Development) {
		return errors.New("must be a plain https address")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("must have a port that exists")
		}
	}
	err = c.guard.CheckURL(u)
	if errors.Is(err, egress.ErrRefused) {
		return errors.New("must be a public address of your own system")
	}
	return err //nolint:wrapcheck // the text goes behind the name of a field
}
