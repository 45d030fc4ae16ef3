package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Hosts says on which kinds of host a route exists; on the others it is 404. The values are bits.
type Hosts uint8

// The kinds of host, and their combinations.
const (
	// OnOrganization is <slug>.SERVICE_DOMAIN.
	OnOrganization Hosts = 1 << iota
	// OnRoot is SERVICE_DOMAIN itself.
	OnRoot
	// onForeign is any other name or a bare address.
	onForeign

	// OnBoth is an organization's host and the root host.
	OnBoth = OnOrganization | OnRoot
	// OnEvery adds unknown names: for health checks and callbacks, whose tenant never comes from Host
	// (docs/rules/http.md#hosts).
	OnEvery = OnBoth | onForeign
)

// Access says who may call a route.
type Access string

// The kinds of access. A role means that role or a higher one.
const (
	// AccessPublic needs no sign-in; c.Caller is zero.
	AccessPublic Access = "public"
	// AccessInternal is for our own installations: the handler checks their key.
	AccessInternal   Access = "internal"
	AccessSubscriber        = Access(events.RoleSubscriber)
	AccessSupport           = Access(events.RoleSupport)
	AccessAdmin             = Access(events.RoleAdmin)
	AccessSuperAdmin        = Access(events.RoleSuperAdmin)
	// AccessSubscriberOrAdmin is for what customers do for themselves, and who writes does for them: support, which
	// reads alone, may not.
	AccessSubscriberOrAdmin Access = "subscriber_or_admin"
)

// Role is the lowest role that may call, "" when no sign-in is needed.
func (a Access) Role() events.Role {
	switch a {
	case AccessPublic, AccessInternal:
		return ""
	case AccessSubscriberOrAdmin:
		return events.RoleSubscriber
	}
	return events.Role(a)
}

// Check refuses a role that may not call. Fails: role_required.
func (a Access) Check(role events.Role) error {
	switch {
	case !role.AtLeast(a.Role()):
		return ErrRoleRequired(a.Role())
	case a == AccessSubscriberOrAdmin && role == events.RoleSupport:
		return ErrRoleRequired(events.RoleAdmin)
	}
	return nil
}

// Param is a query parameter. A request with another one is refused, see checkParameters. Lists get limit and cursor
// without naming them.
type Param struct {
	Name string
	Type string   // "string", "integer", "boolean", "uuid", "date", "date-time"
	Enum []string // nil = any
	Doc  string
}

// Route is one endpoint. The table of all routes drives the router, authorisation and OpenAPI.
type Route struct {
	Method  string
	Path    string // httprouter's form: /invoices/:id
	Hosts   Hosts
	Access  Access
	Summary string
	// Own says how customers are kept to what is theirs; "" = they may not call. It is set by itself under /auth.
	Own Own
	// Request is the zero value of the body's struct; nil = no body is read as JSON.
	Request any
	// Accepts is the content type of a body that is not JSON; "" = application/json. Without Request and Accepts a body
	// of any type is taken as it is.
	Accepts string
	// Form says that a form of this host's own pages is taken as well as JSON; the handler reads it (Call.IsForm).
	Form bool
	// Response is the zero value of the answer's struct; nil = no body, or not JSON.
	Response any
	// Answers has the zero value of the body of further answers, by status.
	Answers map[int]any
	// Row makes the answer the list envelope of such rows, and adds limit and cursor.
	Row any
	// Produces is the content type of an answer that is not JSON.
	Produces string
	// Stream says that the answer goes on until its reader ends it, as Call.OpenStream begins it. The handler's context
	// ends with the connection alone, and no database is needed. Response describes one of its messages.
	Stream bool
	// InMemory says that the answer needs no database, so that it is given while the database is away. A page that
	// anybody may open is InMemory or has Sorry: a browser shows what the API answers to programs as bare text, and
	// never asks again.
	InMemory bool
	// Sorry answers a call that failed here, with a status from 500 on, in the form of a page for people, and reports
	// whether it did; nil = the usual body.
	Sorry func(c *Call, status int) bool
	// Failed may set headers of the answer to a call that failed, whoever refused it, and make another failure of it.
	Failed func(c *Call, f *failure.Error) *failure.Error
	// Status is of the usual success; 0 = 200.
	Status int
	Query  []Param
	// OwnBody says that the handler reads the body itself, from Call.Request, and keeps to BodyLimit. Its context ends
	// with the connection alone: it sets deadlines of its own.
	OwnBody bool
	// BodyLimit in bytes; 0 = 1 MiB.
	BodyLimit int64
	// Codes are failure codes of the handler that a client may want to tell apart; those that the server gives by
	// itself, before the handler and after it, are known without them.
	Codes []string
	// IgnoresIdempotency is set by itself under /auth, /webhooks and /internal.
	IgnoresIdempotency bool
	// Recorded says that a request which is refused is recorded for the audit log, as writes are: one that reads more
	// than the pages show every day.
	Recorded bool
	// PeopleOnly refuses API keys, which never manage who may enter. It is set by itself under /auth.
	PeopleOnly bool
	// AllowedWhilePasswordChange is set by itself under /auth (docs/rules/identity.md#user-endpoints).
	AllowedWhilePasswordChange bool
	// LoginLimit counts the call against the limit of sign-in endpoints, per address.
	LoginLimit bool
	// RefreshLimit counts the call against the limit of renewals, per address.
	RefreshLimit bool
	Handle       func(ctx context.Context, c *Call) error

	takesBody bool     // the body's type is checked
	readOnly  []string // fields of the answer of the GET of a PUT's path that the PUT ignores
	resource  string   // by which scopes of API keys name it: the first part of the path
}

// defaultBodyLimit is 1 MiB (docs/rules/http.md#bodies).
const defaultBodyLimit = 1 << 20

// mutates reports whether the route's method may change something.
func (r *Route) mutates() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// under reports whether the first part of the path is the folder, such as "/auth".
func (r *Route) under(folder string) bool {
	return r.Path == folder || strings.HasPrefix(r.Path, folder+"/")
}

// publicPage reports whether a browser opens the address without a sign-in.
func (r *Route) publicPage() bool {
	return r.Access == AccessPublic && !r.mutates() && strings.HasPrefix(r.Produces, "text/html")
}

// machine reports whether the callers are programs without cookies: callbacks and our own installations.
func (r *Route) machine() bool { return r.under("/webhooks") || r.under("/internal") }

// withDefaults sets the fields that the author of a route left zero.
func (r Route) withDefaults() Route {
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	if r.BodyLimit == 0 {
		r.BodyLimit = defaultBodyLimit
	}
	if r.Stream {
		r.Produces = contentStream
		r.Query = append(slices.Clip(r.Query), Param{Name: paramExpectedUser, Type: "string", Doc: aboutExpectedUser})
	}
	r.takesBody = r.Request != nil || r.Accepts != ""
	if r.Accepts == "" {
		r.Accepts = "application/json"
	}
	if r.under("/auth") {
		r.IgnoresIdempotency, r.AllowedWhilePasswordChange, r.PeopleOnly = true, true, true
		if r.Access == AccessSubscriber {
			r.Own = OwnSignIn
		}
	}
	if r.machine() {
		r.IgnoresIdempotency = true
	}
	r.resource = r.tag()
	return r
}

// check refuses a route that is incomplete or contradicts itself.
func (r *Route) check() error {
	switch {
	case r.Hosts == 0:
		return errors.New("no host")
	case r.Access == "", r.Access.Role() != "" && !r.Access.Role().Known(): // a forgotten one must not be public
		return fmt.Errorf("access %q", r.Access)
	case r.Summary == "":
		return errors.New("no summary")
	case r.Handle == nil:
		return errors.New("no handler")
	case r.Response != nil && r.Row != nil:
		return errors.New("both response and row")
	case r.Hosts&onForeign != 0 && r.Access.Role() != "":
		return errors.New("a sign-in needs a host of ours")
	case r.Stream && (r.Access.Role() == "" || r.Method != http.MethodGet):
		return errors.New("a stream is read by the signed-in alone")
	case r.publicPage() && !r.InMemory && r.Sorry == nil:
		return errors.New("a page that says nothing while the database is away")
	case r.Hosts == OnRoot && r.Access.Role() != "" && r.Access != AccessSuperAdmin:
		return errors.New("only super_admin signs in on the root host")
	}
	return r.checkOwn()
}

// table has the routes, and one router for each kind of host.
type table struct {
	routes  []Route
	routers map[Hosts]*httprouter.Router
}

// newTable makes the routers. httprouter panics about conflicting paths; here they become errors.
func newTable(routes []Route) (t *table, err error) {
	t = &table{routers: map[Hosts]*httprouter.Router{
		OnOrganization: httprouter.New(), OnRoot: httprouter.New(), onForeign: httprouter.New(),
	}}
	var at string
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("route %s: %v", at, p)
		}
	}()
	for _, r := range routes {
		at = r.Method + " " + r.Path
		r = r.withDefaults()
		r.readOnly = readOnlyFields(r, routes)
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("route %s: %w", at, err)
		}
		t.routes = append(t.routes, r)
		for kind, router := range t.routers {
			if r.Hosts&kind != 0 {
				router.Handle(r.Method, r.Path, handler(&r))
			}
		}
	}
	return t, nil
}

// readOnlyFields names the fields that the GET of a PUT's path answers with and the PUT does not take.
func readOnlyFields(put Route, routes []Route) (names []string) {
	if put.Method != http.MethodPut || put.Request == nil {
		return nil
	}
	taken := fieldsOf(reflect.TypeOf(put.Request))
	for _, get := range routes {
		if get.Method != http.MethodGet || get.Path != put.Path || get.Hosts&put.Hosts == 0 || get.Response == nil {
			continue
		}
		for _, f := range fieldsOf(reflect.TypeOf(get.Response)) {
			if !slices.ContainsFunc(taken, func(g field) bool { return g.name == f.name }) {
				names = append(names, f.name)
			}
		}
	}
	return names
}

// handler sets the route and its parameters in the call that find looks up. The writer is always our recorder.
func handler(r *Route) httprouter.Handle {
	return func(w http.ResponseWriter, _ *http.Request, params httprouter.Params) {
		c := w.(*recorder).call
		c.route, c.params = r, params
	}
}

// methods are the methods that a route may have, in the order of the Allow header.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// find sets the call's route. Without one it gives the methods that the path would accept. HEAD is served as GET;
// net/http leaves out its body.
func (t *table) find(c *Call) (allowed []string) {
	router, path, method := t.routers[c.hostKind], c.Request.URL.Path, c.Request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if handle, params, _ := router.Lookup(method, path); handle != nil {
		handle(c.Writer, c.Request, params)
		return nil
	}
	for _, m := range methods {
		if handle, _, _ := router.Lookup(m, path); handle != nil {
			allowed = append(allowed, m)
		}
	}
	return allowed
}
