package accessapi

import (
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// disconnectPatience is how long a request waits for a router.
const disconnectPatience = 12 * time.Second

// Disconnected tells what came of the wish to end a session.
type Disconnected struct {
	Ended bool
	Via   string // "radius", "router", or "" when the session had ended before or goes on
	Error string // "" = none
}

// Disconnect serves the end of a session by hand.
type Disconnect struct {
	// End has the router end a session, and records who asked for it. Unless it is confirmed nothing is done where the
	// customer could not sign in again. Fails: session_not_found.
	End func(
		ctx context.Context, session telemetry.SessionID, confirmed bool, meta commands.Meta,
	) (Disconnected, error)
}

// Routes lists the endpoint.
func (a Disconnect) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "POST", Path: "/sessions/:id/disconnect", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
		Summary: "End a session; the customer's device may sign in again", Request: httpapi.ReasonRequest{},
		Response: disconnectResponse{}, Handle: a.disconnect,
		Query: []httpapi.Param{{
			Name: "confirm", Type: "boolean", Doc: "true: also a customer who could not sign in again is put off",
		}},
	}}
}

// disconnectResponse is the outcome.
type disconnectResponse struct {
	Ended bool    `json:"ended"`
	Via   *string `json:"via" enum:"radius,router" doc:"null: it had ended before, or it goes on"`
	Error *string `json:"error" doc:"why it goes on; null: it has ended"`
}

// disconnect ends a session and waits for its router.
func (a Disconnect) disconnect(ctx context.Context, c *httpapi.Call) error {
	session, err := httpapi.PathID[telemetry.SessionID](c, "id", commands.ErrNoSession)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	f := c.Filters()
	confirmed := null.Zero(f.Bool("confirm"))
	if err := f.Err(); err != nil {
		return err
	}
	meta := c.Asked().Meta
	meta.Reason = strings.TrimSpace(in.Reason)
	if err := commands.CheckSpokenReason(meta.Reason); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, disconnectPatience)
	defer cancel()
	done, err := a.End(ctx, session, confirmed, meta)
	if err != nil {
		return err
	}
	return c.Send(200, disconnectResponse{
		Ended: done.Ended, Via: null.Of(done.Via), Error: null.Of(done.Error),
	})
}
