package apitest

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Swept is a server whose whole table is tried with bad requests.
type Swept struct {
	Do           func(t testing.TB, r Request) Answer
	Routes       []httpapi.Route
	Organization string                 // host of an organization
	Root         string                 // root host
	Tokens       map[events.Role]string // bearer tokens of the organization's users, and of a super_admin
	// Skip lists patterns whose handlers are not called, "POST /x": those with answers of their own, such as callbacks.
	Skip map[string]bool
}

// Sweep tries every route without sign-in, with lower roles, on the wrong host, with malformed bodies, unknown fields,
// wrong types, unknown ids and bad pages. Whatever a handler does, a bad request is 4xx and never 5xx.
func (s Swept) Sweep(t testing.TB) {
	t.Helper()
	for _, r := range s.Routes {
		if s.Skip[r.Method+" "+r.Path] {
			continue
		}
		s.hosts(t, r)
		s.roles(t, r)
		if r.Access == httpapi.AccessInternal {
			continue
		}
		s.bodies(t, r)
		s.pages(t, r)
	}
}

// fill replaces each parameter of a pattern by a new id, which nothing has.
func fill(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") {
			parts[i] = id.New[id.Any]().String()
		}
	}
	return strings.Join(parts, "/")
}

// host is a host on which the route exists, an organization's when there is a choice.
func (s Swept) host(r httpapi.Route) string {
	if r.Hosts&httpapi.OnOrganization != 0 {
		return s.Organization
	}
	return s.Root
}

// request is a request to the route by a caller of the lowest role that may call it. Where the path says whose thing it
// is, a customer is refused before anything else is read: staff calls there.
func (s Swept) request(r httpapi.Route) Request {
	out := Request{Method: r.Method, Host: s.host(r), Path: fill(r.Path)}
	if r.Access != httpapi.AccessPublic && r.Access != httpapi.AccessInternal {
		out.As = s.Tokens[r.Access.Role()]
		if r.Own == httpapi.OwnPath {
			out.As = s.Tokens[events.RoleAdmin]
		}
	}
	return out
}

// expect reports an error unless the answer has one of the statuses, with a failure code.
func (s Swept) expect(t testing.TB, what string, r Request, statuses ...int) {
	t.Helper()
	got := s.Do(t, r)
	for _, status := range statuses {
		if got.Status == status {
			if got.Code() == "" {
				t.Errorf("%s %s, %s: %d without a code: %s", r.Method, r.Path, what, got.Status, got.Body)
			}
			return
		}
	}
	t.Errorf("%s %s, %s: %d %s, want one of %v", r.Method, r.Path, what, got.Status, got.Body, statuses)
}

// hosts wants 404 on the other kind of host, unless a route of the same path exists there.
func (s Swept) hosts(t testing.TB, r httpapi.Route) {
	t.Helper()
	for kind, host := range map[httpapi.Hosts]string{httpapi.OnOrganization: s.Organization, httpapi.OnRoot: s.Root} {
		if r.Hosts&kind != 0 || s.exists(r.Path, kind) {
			continue
		}
		bad := s.request(r)
		bad.Host = host
		s.expect(t, "other kind of host", bad, http.StatusNotFound)
	}
}

// exists reports whether some route of the path is on a kind of host.
func (s Swept) exists(path string, kind httpapi.Hosts) bool {
	for _, r := range s.Routes {
		if r.Path == path && r.Hosts&kind != 0 {
			return true
		}
	}
	return false
}

// roles wants 401 without sign-in and with a wrong token, and 403 for each role that may not call (401 on the root
// host).
func (s Swept) roles(t testing.TB, r httpapi.Route) {
	t.Helper()
	if r.Access == httpapi.AccessPublic || r.Access == httpapi.AccessInternal {
		return
	}
	bad := s.request(r)
	bad.As = ""
	s.expect(t, "nobody signed in", bad, http.StatusUnauthorized)
	bad.As = "x"
	s.expect(t, "wrong token", bad, http.StatusUnauthorized)
	for role, token := range s.Tokens {
		if r.Access.Check(role) == nil {
			continue
		}
		bad.As = token
		if bad.Host == s.Root {
			s.expect(t, string(role)+" on the root host", bad, http.StatusUnauthorized)
		} else {
			s.expect(t, "as "+string(role), bad, http.StatusForbidden)
		}
	}
}

// bodies sends bodies that no handler may accept. A handler may answer first that the id of the path is unknown.
func (s Swept) bodies(t testing.TB, r httpapi.Route) {
	t.Helper()
	if r.Request == nil || r.Accepts != "" && r.Accepts != "application/json" {
		return
	}
	absent := []int(nil)
	if strings.Contains(r.Path, ":") {
		absent = []int{http.StatusNotFound}
	}
	bad := s.request(r)
	for what, body := range map[string]string{
		"cut off": `{"a":`, "a list": `[]`, "a text": `"x"`, "two values": `{} {}`, "null": `null`,
		"not UTF-8": "{\"a\":\"\xff\"}",
	} {
		bad.Body = body
		s.expect(t, what, bad, append(absent, http.StatusBadRequest)...)
	}
	bad.Body = `{"noSuchField":1}`
	s.expect(t, "unknown field", bad, append(absent, http.StatusBadRequest, http.StatusUnprocessableEntity)...)
	bad.Body = wrongTypes(reflect.TypeOf(r.Request))
	s.expect(t, "wrong types", bad, append(absent, http.StatusBadRequest, http.StatusUnprocessableEntity)...)
	bad.Body, bad.Header = `{}`, map[string]string{"Content-Type": "text/plain"}
	s.expect(t, "not JSON", bad, http.StatusUnsupportedMediaType)
	bad.Header = map[string]string{"If-Match": "x"}
	s.expect(t, "bad If-Match", bad, http.StatusBadRequest)
	if !r.IgnoresIdempotency {
		bad.Header = map[string]string{"Idempotency-Key": "a b"}
		s.expect(t, "bad Idempotency-Key", bad, http.StatusBadRequest)
	}
}

// wrongTypes is a body in which every field is a list of a list, which no field accepts.
func wrongTypes(t reflect.Type) string {
	var fields []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields = append(fields, `"`+name+`":[[7]]`)
		}
	}
	if len(fields) == 0 {
		fields = []string{`"noSuchField":1`}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// pages sends limits and cursors that no list accepts.
func (s Swept) pages(t testing.TB, r httpapi.Route) {
	t.Helper()
	if r.Row == nil {
		return
	}
	absent := []int(nil)
	if strings.Contains(r.Path, ":") {
		absent = []int{http.StatusNotFound}
	}
	bad := s.request(r)
	path := bad.Path
	for query, status := range map[string]int{
		"limit=0": 422, "limit=101": 422, "limit=x": 422, "cursor=x": 400, "cursor=%00": 400,
	} {
		bad.Path = path + "?" + query
		s.expect(t, query, bad, append(absent, status)...)
	}
}

// Sweep tries the kit's whole table but the patterns of skip.
func (k *Kit) Sweep(t testing.TB, skip map[string]bool) {
	t.Helper()
	Swept{
		Do: k.Do, Routes: k.Server.Routes(), Organization: Acme, Root: Domain, Skip: skip,
		Tokens: map[events.Role]string{
			events.RoleAdmin: Admin, events.RoleSupport: Support, events.RoleSubscriber: Subscriber,
			events.RoleSuperAdmin: Super},
	}.Sweep(t)
}
