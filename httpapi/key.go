package httpapi

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases"
)

// aboutBearer describes the bearer tokens in OpenAPI.
const aboutBearer = "The access token of a sign-in, or an API key of the organization (POST /api-keys). " +
	"An API key works at its organization's host alone. It needs the scope that x-scope names, if its scopes are " +
	"limited; RESOURCE:write includes RESOURCE:read. Operations with a sign-in and without x-scope are for people."

// ShownKey is an API key as a request shows it.
type ShownKey struct {
	Text  secrets.Text
	OrgID id.Organization // of the host; zero on the root host, where no key works
	IP    string          // of the client
}

// KeyAuthenticator finds out which API key a request shows. It is asked at every request of a key, so it answers from
// memory. A text that is no key of the host's organization is failure.Unauthenticated, after the same work whatever it
// is. With an error about a right key that may not enter, the caller is that key; with every other error it is zero.
// Implementations are safe for concurrent use.
type KeyAuthenticator interface {
	AuthenticateKey(ctx context.Context, shown ShownKey) (Caller, error)
}

// Words of scopes behind the resource; write includes read.
const (
	scopeRead  = ":read"
	scopeWrite = ":write"
)

// takesKeys reports whether API keys may call the route at all, given role and scope.
func (r *Route) takesKeys() bool {
	return r.Access.Role() != "" && !r.PeopleOnly && r.Hosts&OnOrganization != 0 &&
		events.RoleAdmin.AtLeast(r.Access.Role())
}

// scope is the scope that a key with limited scopes needs: that of its resource to read, or to write where the method
// may change something.
func (r *Route) scope() string {
	if r.mutates() {
		return r.resource + scopeWrite
	}
	return r.resource + scopeRead
}

// scopesOf lists the scopes that keys of each role can have, sorted. They follow from the routes, so that a new route
// has one.
func scopesOf(routes []Route) map[events.Role][]string {
	out := map[events.Role][]string{}
	for _, role := range []events.Role{events.RoleAdmin, events.RoleSupport} {
		set := map[string]bool{}
		for _, r := range routes {
			if r.takesKeys() && r.Access.Check(role) == nil {
				set[r.scope()] = true
			}
		}
		out[role] = slices.Sorted(maps.Keys(set))
	}
	return out
}

// KeyScopes lists the scopes that an API key of a role can have, sorted. Callers must not change the list.
func (c *Call) KeyScopes(role events.Role) []string { return c.server.scopes[role] }

// forPeople refuses an API key at a route for people. Fails: api_key_not_allowed.
func (c *Call) forPeople() error {
	if c.Caller.isKey() && c.route.PeopleOnly {
		return usecases.ErrPeopleOnly()
	}
	return nil
}

// checkScope refuses an API key whose scopes do not name the route's resource. Public routes have no scope. Fails:
// scope_required.
func (c *Call) checkScope() error {
	if !c.Caller.isKey() || c.Caller.Scopes == nil || c.route.Access.Role() == "" {
		return nil
	}
	for _, scope := range c.Caller.Scopes {
		does, of := strings.CutPrefix(scope, c.route.resource)
		if of && (does == scopeWrite || does == scopeRead && !c.route.mutates()) {
			return nil
		}
	}
	return failure.NewDenied("scope_required", "This API key needs the scope %s.", c.route.scope())
}
