// Package httpapi is the service's HTTP face: a table of routes that drives routing, authorisation and the OpenAPI
// document, and the conventions that every endpoint shares (api.md, Conventions).
//
// An area adds its endpoints as a struct of its own dependencies with a Routes method:
//
//	// InvoicesAPI serves /invoices.
//	type InvoicesAPI struct {
//		Bus      *bus.Bus
//		Invoices billing.InvoicesQuery
//	}
//
//	// Routes lists the endpoints of invoices.
//	func (a InvoicesAPI) Routes() []Route {
//		return []Route{
//			{Method: "POST", Path: "/invoices/:id/void", Hosts: OnOrganization, Access: AccessAdmin, Summary: "Void an invoice",
//				Request: voidRequest{}, Response: invoiceResponse{}, Status: 200, Handle: a.void},
//			{Method: "GET", Path: "/invoices", Hosts: OnOrganization, Access: AccessSupport, Summary: "List invoices",
//				Row: invoiceResponse{}, Query: []Param{{Name: "state", Type: "string"}}, Handle: a.list},
//		}
//	}
//
//	func (a InvoicesAPI) void(ctx context.Context, c *Call) error {
//		invoice, err := PathID[id.Invoice](c, "id", commands.ErrNoInvoice)
//		if err != nil {
//			return err
//		}
//		in, err := Decode[voidRequest](c) // 400, 413, 422 by itself
//		if err != nil {
//			return err
//		}
//		done, err := a.Bus.Execute(ctx, commands.VoidInvoice{...}, c.Meta())
//		if err != nil {
//			return err // every error goes through one place, (*Server).fail
//		}
//		return SendVisible(ctx, c, 200, Visible{Projection: "billing_invoices", ID: invoice.String(), Result: done},
//			func(ctx context.Context) (invoiceResponse, error) { ... })
//	}
//
// Rules of request structs: a field is required unless its json tag says omitempty or omitzero; optional values whose
// absence matters are pointers. An `enum:"a,b"` tag bounds a text; `doc:"..."` describes a field in OpenAPI. Amounts in
// are of type Amount, amounts out are money.Amount.Number(). Ids of what a command makes come from usecases.NewID, so that a
// retry with the same Idempotency-Key meets the same stream. A handler that executes several commands takes Asked().Step for
// the others.
//
// Package apitest runs an area's routes on a real listener, and sweeps a whole table with bad requests.
package httpapi
