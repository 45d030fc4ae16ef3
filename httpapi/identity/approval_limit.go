package identityapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// ApprovalLimits serves /settings/approvals (docs/rules/approvals.md#the-limit). They ask the log.
type ApprovalLimits struct {
	Cases identitycases.ApprovalLimits
}

// Routes lists the endpoints of the limit.
func (a ApprovalLimits) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/settings/approvals", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read how much one person may give away on a day", Response: limitResponse{}, Handle: a.get,
		},
		{
			Method: "PUT", Path: "/settings/approvals", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Change how much one person may give away on a day; to raise or remove it waits for a second " +
				"administrator",
			Request: limitRequest{}, Response: limitResponse{}, PeopleOnly: true, Handle: a.put,
		},
	}
}

// limitRequest is the body of PUT /settings/approvals.
type limitRequest struct {
	Limit *httpapi.Amount `json:"limit,omitempty" doc:"null: nothing needs a second person; 0: everything does"`
}

// limitResponse is the present limit.
type limitResponse struct {
	Limit    *httpapi.Number `json:"limit" doc:"null: nothing needs a second person; 0: everything does"`
	Currency money.Currency  `json:"currency"`
}

// get answers with the limit, and with the revision of the organization as ETag.
func (a ApprovalLimits) get(ctx context.Context, c *httpapi.Call) error {
	present, err := a.Cases.Read(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	out := limitResponse{Currency: present.Currency}
	if present.Limit != nil {
		out.Limit = new(present.Limit.Number())
	}
	c.SetRevision(present.Revision)
	return c.Send(200, out)
}

// put changes the limit.
func (a ApprovalLimits) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[limitRequest](c)
	if err != nil {
		return err
	}
	var wanted identitycases.LimitInput
	switch {
	case in.Limit != nil:
		wanted.Limit = new(in.Limit.Figure())
	case !c.Nulls()["limit"]: // an empty body must not remove it
		return failure.NewInvalid("invalid_input", "limit must be an amount, or null")
	}
	if _, err := a.Cases.Set(ctx, c.Asked(), wanted); err != nil {
		return err
	}
	return a.get(ctx, c)
}
