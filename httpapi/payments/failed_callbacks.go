package paymentsapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// FailedCallbacks serves /failed-callbacks on the root host: the provider's messages that led to nothing.
type FailedCallbacks struct{ Cases paymentscases.FailedCallbacks }

// Routes lists the endpoints.
func (a FailedCallbacks) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/failed-callbacks", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "List messages of the payment provider that led to nothing, without their content",
			Row:     failedCallback{}, Handle: a.list,
			Query: []httpapi.Param{{
				Name: "verified", Type: "boolean",
				Doc: "false: those whose sender nothing proved; absent: those that the provider sent",
			}},
		},
		{
			Method: "POST", Path: "/failed-callbacks/:id/read", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Read the content of such a message; the audit log has who read it", Response: callbackContent{},
			Handle: a.read,
		},
		{
			Method: "POST", Path: "/failed-callbacks/:id/retry", Hosts: httpapi.OnRoot, Status: 202,
			Access: httpapi.AccessSuperAdmin, Summary: "Handle such a message again", Response: callbackRetry{},
			Handle: a.retry,
		},
	}
}

// failedCallback is one message without its content.
type failedCallback struct {
	ID         id.Any    `json:"id"`
	Kind       string    `json:"kind" doc:"what it is about: stk, c2b_confirmation, billmanager_payment, result …"`
	Reason     string    `json:"reason" doc:"unreadable, prompt_unknown, key_missing, or the code of the failure"`
	ReceivedAt time.Time `json:"receivedAt"`
	From       *string   `json:"from" doc:"address of the sender; null: the key that sealed the message is missing"`
	Shortcode  *string   `json:"shortcode" doc:"of the address to which it was sent; null: that names none"`
	Verified   bool      `json:"verified" doc:"the provider sent it"`
	Attempts   int       `json:"attempts"`
}

// callbackContent is the content of a message.
type callbackContent struct {
	Content string `json:"content" doc:"as it came"`
	Cut     bool   `json:"cut" doc:"the content is longer"`
}

// callbackRetry names a message that is handled again.
type callbackRetry struct {
	ID id.Any `json:"id" doc:"it is in the list again when it leads to nothing"`
}

// failedRow is keyed by its id, whose order is that in which messages came.
type failedRow vault.FailedCallback

// Key implements httpapi.Row.
func (r failedRow) Key() id.Any { return id.Any(r.ID) }

// list answers with the messages, the newest first.
func (a FailedCallbacks) list(ctx context.Context, c *httpapi.Call) error {
	verified := c.Filters().Bool("verified")
	return httpapi.SendList(ctx, c, showFailed, func(ctx context.Context, after id.Any, max int) ([]failedRow, error) {
		found, err := a.Cases.List(ctx, verified == nil || *verified, after, max)
		rows := make([]failedRow, len(found))
		for i, one := range found {
			rows[i] = failedRow(one)
		}
		return rows, err
	})
}

// showFailed gives a row as it is sent.
func showFailed(r failedRow) failedCallback {
	out := failedCallback{
		ID: id.Any(r.ID), Kind: r.Kind, Reason: r.Cause, ReceivedAt: r.ReceivedAt, Shortcode: null.Of(r.Shortcode),
		Verified: r.Verified, Attempts: r.Attempts,
	}
	if r.SourceIP.IsValid() {
		out.From = new(r.SourceIP.String())
	}
	return out
}

// read answers with the content.
func (a FailedCallbacks) read(ctx context.Context, c *httpapi.Call) error {
	callback, err := httpapi.PathID[id.Any](c, "id", vault.ErrNoCallback)
	if err != nil {
		return err
	}
	said, err := a.Cases.Read(ctx, c.Asked(), callback)
	if err != nil {
		return err
	}
	return c.Send(200, callbackContent{Content: said.Text, Cut: said.Cut})
}

// retry has the message handled again.
func (a FailedCallbacks) retry(ctx context.Context, c *httpapi.Call) error {
	callback, err := httpapi.PathID[id.Any](c, "id", vault.ErrNoCallback)
	if err != nil {
		return err
	}
	if err := a.Cases.Retry(ctx, c.Asked(), callback); err != nil {
		return err
	}
	return c.Send(202, callbackRetry{ID: callback})
}
