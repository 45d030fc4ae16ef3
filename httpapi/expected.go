package httpapi

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Names under which a request tells whom it takes for its caller (docs/rules/identity.md#expected-user). Streams take
// the parameter too, because a browser cannot set a header for them.
const (
	headerExpectedUser = "X-Expected-User"
	paramExpectedUser  = "expectedUser"
)

// aboutExpectedUser describes both in OpenAPI.
const aboutExpectedUser = "the id of the user (GET /auth/me) for whom this is done; " +
	"if somebody else is signed in, nothing is done and the answer is 409 another_person"

// CheckExpected refuses a request that names another user than the one whose token it carries: in a browser all tabs
// share the cookies, so a page may still show the person who signed in there before. Each value counts, and one that is
// no id names another. Fails: another_person.
func (c *Call) CheckExpected(user id.User) error {
	for _, expected := range c.expectedUsers() {
		if !strings.EqualFold(strings.TrimSpace(expected), user.String()) {
			return failure.NewConflict("another_person", "Somebody else is signed in in this browser now.")
		}
	}
	return nil
}

// expectedUsers are the values that the request has under both names.
func (c *Call) expectedUsers() []string {
	given := c.Request.Header.Values(headerExpectedUser)
	if c.route.Stream {
		given = append(given[:len(given):len(given)], c.Request.URL.Query()[paramExpectedUser]...)
	}
	return given
}
