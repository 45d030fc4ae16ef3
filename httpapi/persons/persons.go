// Package personsapi serves what a person may ask for: to be told what is kept of them, and to be forgotten.
package personsapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/exports"
	"github.com/lastmile-isp/lastmile/usecases/persons"
)

// Persons serves /subscribers/:id/forget and /subscribers/:id/personal-data. Every field is required.
type Persons struct {
	Forgetting personscases.Forgetting
	Data       exportscases.Persons
}

// contentJSON is the type of the download.
const contentJSON = "application/json"

// openCodes are the failures for a customer who cannot be forgotten yet.
var openCodes = []string{
	string(commands.OpenBalance), string(commands.OpenCredit), string(commands.OpenPrompt), string(commands.OpenRefund),
	string(commands.OpenDraft), string(commands.OpenReceipt), string(commands.OpenApproval),
	string(commands.OpenService),
}

// Routes lists the endpoints.
func (a Persons) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/subscribers/:id/forget", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "What keeps a subscriber from being forgotten", Response: obstaclesResponse{}, Handle: a.obstacles,
		},
		{
			Method: "POST", Path: "/subscribers/:id/forget", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			PeopleOnly: true, Summary: "Forget a person for good, once no money is open",
			Request: httpapi.ReasonRequest{}, Response: forgottenResponse{}, Handle: a.forget,
			Codes: append([]string{"account_closed"}, openCodes...),
		},
		{
			Method: "GET", Path: "/subscribers/:id/personal-data", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriberOrAdmin, Own: httpapi.OwnPath, PeopleOnly: true, Recorded: true,
			Summary:  "All that is kept of a person, in one file, a few times a day; the audit log tells it",
			Produces: contentJSON, Handle: a.data, Codes: []string{"rate_limited", "too_many_documents"},
		},
	}
}

// openCode makes the description list the obstacles.
type openCode string

// Texts implements httpapi.Enumerated.
func (openCode) Texts() []string { return openCodes }

// obstaclesResponse lists what has to be settled first (docs/rules/subscribers.md#forgetting).
type obstaclesResponse struct {
	Open []openCode `json:"open" doc:"the codes with which it is refused; empty: nothing stands in the way"`
}

// forgottenResponse says that the person is forgotten. It has nothing of the person.
type forgottenResponse struct {
	ID     id.Subscriber `json:"id"`
	Status string        `json:"status" enum:"forgotten"`
}

// obstacles answers what stands in the way.
func (a Persons) obstacles(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	list, err := a.Forgetting.Open(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	out := obstaclesResponse{Open: make([]openCode, len(list))}
	for i, open := range list {
		out.Open[i] = openCode(open)
	}
	return c.Send(http.StatusOK, out)
}

// forget answers without a word of the person, since the answer can be stored.
func (a Persons) forget(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	asked := c.Asked()
	asked.Meta.Reason = in.Reason
	done, err := a.Forgetting.Forget(ctx, asked, of, in.Reason)
	if err != nil {
		return err
	}
	// Who asked sees no name any more. What is shown later is forgotten all the same.
	if _, err := c.WaitVisible(ctx, subscribersviews.SubscribersName, done.Position); err != nil {
		return err
	}
	return c.Send(http.StatusOK, forgottenResponse{ID: of, Status: "forgotten"})
}

// data makes the file and then sends it. That it is taken along is recorded before the first byte. A file that breaks
// off is no JSON, so that nobody takes it for all.
func (a Persons) data(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	if err := c.TakePlace(ctx); err != nil {
		return err
	}
	taken, err := a.Data.Open(ctx, c.Asked(), of, c.IsCustomer())
	if err != nil {
		return err
	}
	file, err := taken.Keep(ctx)
	if err != nil {
		return err
	}
	c.Made()
	ctx, done := c.GiveDownloadTime(ctx, file.Bytes)
	defer done()
	head := c.Writer.Header()
	head.Set("Content-Type", contentJSON)
	head.Set("Content-Disposition", `attachment; filename="`+c.Org.Slug+`-personal-data.json"`)
	head.Set("Content-Length", strconv.FormatInt(file.Bytes, 10))
	return errors.Join(file.Send(ctx, c.Writer), file.Drop(ctx))
}
