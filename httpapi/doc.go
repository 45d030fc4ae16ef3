// Package httpapi is the service's HTTP face: a table of routes that drives routing, authorisation and the OpenAPI
// document, and the conventions that every endpoint shares (docs/rules/http.md#conventions). The endpoints of each area
// are a package below it, which adds a struct of its own dependencies with a Routes method:
//
//	// Plans serves /plans.
//	type Plans struct {
//		Bus   *bus.Bus
//		Plans subscribersviews.PlansQuery
//		Cases subscriberscases.Plans
//	}
//
//	// Routes lists the endpoints of plans.
//	func (a Plans) Routes() []httpapi.Route {
//		return []httpapi.Route{
//			{
//				Method: "POST", Path: "/plans", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
//				Summary: "Create a plan", Request: planRequest{}, Response: planResponse{}, Status: 201,
//				Handle: a.create,
//			},
//			{
//				Method: "GET", Path: "/plans/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
//				Summary: "Read a plan", Response: planResponse{}, Handle: a.get,
//			},
//		}
//	}
//
//	// one says how a plan is read and shown, for get and for the answers of writes.
//	func (a Plans) one() httpapi.One[id.Plan, subscribersviews.PlanRow, planResponse] { ... }
//
//	func (a Plans) get(ctx context.Context, c *httpapi.Call) error { return httpapi.ReadOne(ctx, c, a.one()) }
//
//	func (a Plans) create(ctx context.Context, c *httpapi.Call) error {
//		in, err := httpapi.Decode[planRequest](c) // its errors become 400 and 422
//		if err != nil {
//			return err
//		}
//		plan, done, err := a.Cases.Create(ctx, c.Asked(), in.input())
//		if err != nil {
//			return err // the server turns every error into an answer
//		}
//		return httpapi.SendOne(ctx, c, 201, a.one(), plan, done) // waits until it can be read
//	}
//
// A handler decodes, makes one call, to a use case, to the bus with one command, or to a query, and encodes. Work that
// takes several commands is a use case (package usecases). [SendList] answers lists.
//
// Rules of request structs: a field is required unless its json tag says omitempty or omitzero; optional values whose
// absence matters are pointers. An `enum:"a,b"` tag lists the allowed texts, in an answer also a type that is
// [Enumerated]; `doc:"..."` describes a field in OpenAPI. Amounts of requests are of type [Amount], amounts of answers
// are money.Amount.Number().
//
// Package apitest runs an area's routes on a real listener, and sweeps a whole table with bad requests; its packages
// isptest and moneytest run whole organizations.
package httpapi
