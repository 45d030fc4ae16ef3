package networkapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// historyShape is one event of a router or of a service on it.
type historyShape struct {
	At        time.Time          `json:"at"`
	Kind      historyKind        `json:"kind" doc:"more can be added"`
	Facts     historyFacts       `json:"facts"`
	Summary   string             `json:"summary" doc:"kind and facts in English"`
	ServiceID *id.Service        `json:"serviceId"`
	Actor     httpapi.AuditActor `json:"actor"`
	Detail    any                `json:"detail" doc:"the event as it was recorded"`
}

// historyFacts make an entry exact beside its kind; those that it does not have are absent.
type historyFacts struct {
	Service    string `json:"service,omitempty" enum:"pppoe,hotspot,cpe-management"`
	Interface  string `json:"interface,omitempty"`
	VLAN       int    `json:"vlan,omitempty"`
	Subnet     string `json:"subnet,omitempty"`
	Domains    int    `json:"domains,omitempty" doc:"of the walled garden"`
	Addresses  int    `json:"addresses,omitempty" doc:"of the walled garden"`
	Sessions   int    `json:"sessions,omitempty" doc:"that are affected"`
	Resources  int    `json:"resources,omitempty" doc:"that differ"`
	Operation  string `json:"operation,omitempty" doc:"add, set, remove, move, read or connect"`
	Path       string `json:"path,omitempty" doc:"menu of the router"`
	Name       string `json:"name,omitempty" doc:"of the row in the menu"`
	Message    string `json:"message,omitempty" doc:"of the router, or why it did not answer"`
	Run        string `json:"run,omitempty" enum:"apply,remove,recreate,device,setup,firewall"`
	Outcome    string `json:"outcome,omitempty" doc:"done, refused, unreachable, unstable or a newer one"`
	Writes     int    `json:"writes,omitempty"`
	Script     int    `json:"script,omitempty" doc:"version of the bootstrap script"`
	Credential string `json:"credential,omitempty" enum:"api,radius,tunnel,report"`
	Abandoned  bool   `json:"abandoned,omitempty" doc:"removed without reaching the router"`
}

// historyKind names what happened to a router or a service.
type historyKind string

// Texts implements httpapi.Enumerated.
func (historyKind) Texts() []string { return networkviews.HistoryKinds() }

// sendHistory answers with a page of events, newest first, and names the people who acted.
func (a API) sendHistory(
	ctx context.Context, c *httpapi.Call,
	read func(ctx context.Context, after networkviews.HistoryKey, max int) ([]networkviews.HistoryRow, error),
) error {
	var names map[id.User]string // set when the page is read
	show := func(r networkviews.HistoryRow) historyShape { return showHistory(r, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after networkviews.HistoryKey, max int,
	) ([]networkviews.HistoryRow, error) {
		rows, err := read(ctx, after, max)
		if err != nil {
			return nil, err
		}
		var acted []id.User
		for _, r := range rows {
			if user := userOf(r); !user.IsZero() {
				acted = append(acted, user)
			}
		}
		names, err = a.Users(ctx, c.Org.ID, acted)
		return rows, err
	})
}

// userOf is the user who acted; zero when the actor is not a user.
func userOf(r networkviews.HistoryRow) id.User {
	if r.ActorKind != string(events.ActorUser) {
		return id.User{}
	}
	user, _ := id.Parse[id.User](r.ActorID) // zero when it is none
	return user
}

// showHistory leaves out the actor's role, which the read model does not have. The name is null for actors that are no
// members of the organization.
func showHistory(r networkviews.HistoryRow, names map[id.User]string) historyShape {
	return historyShape{
		At: r.At, Kind: historyKind(r.Kind), Facts: historyFacts(r.Facts), Summary: r.Summary,
		ServiceID: null.Of(r.ServiceID), Detail: r.Detail,
		Actor: httpapi.AuditActor{
			ID: null.Of(r.ActorID), Kind: httpapi.ActorKind(r.ActorKind), Name: null.Of(names[userOf(r)]),
		},
	}
}

// deviceHistory answers with a page of the events of a router and its services, newest first.
func (a API) deviceHistory(ctx context.Context, c *httpapi.Call) error {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return err
	}
	if _, err := a.oneDevice().Find(ctx, c, device); err != nil {
		return err
	}
	return a.sendHistory(ctx, c, func(
		ctx context.Context, after networkviews.HistoryKey, max int,
	) ([]networkviews.HistoryRow, error) {
		return a.History.OfDevice(ctx, c.Org.ID, device, after, max)
	})
}
