package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// previewRequest is the body of POST /settings/dunning/preview (docs/rules/access-dunning.md#preview-and-board).
type previewRequest struct {
	Policy policyRequest `json:"policy"`
	From   time.Time     `json:"from"`
	To     time.Time     `json:"to" doc:"exclusive; not in the future"`
}

// previewResponse says what the policy would have done.
type previewResponse struct {
	Subscriptions int             `json:"subscriptions" doc:"all that were looked at"`
	WalledGarden  int             `json:"walledGarden"`
	Suspended     int             `json:"suspended"`
	Restored      int             `json:"restored"`
	Changes       []previewChange `json:"changes" doc:"of access, by instant"`
}

// previewChange is one change of a subscription's access; from and to are states of dunning.
type previewChange struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	At             time.Time       `json:"at"`
	From           string          `json:"from"`
	To             string          `json:"to"`
	Due            httpapi.Number  `json:"due"`
	Currency       money.Currency  `json:"currency"`
}

// preview runs a policy against the past.
func (a Board) preview(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[previewRequest](c)
	if err != nil {
		return err
	}
	present, err := a.Cases.Present(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	got, err := a.Cases.Preview(ctx, a.Dunning, c.Org.ID, accesscases.PreviewInput{
		Policy: in.Policy.input(), From: in.From, To: in.To,
	})
	if err != nil {
		return err
	}
	out := previewResponse{
		Subscriptions: got.Subscriptions, WalledGarden: got.WalledGarden, Suspended: got.Suspended,
		Restored: got.Restored, Changes: []previewChange{},
	}
	for _, s := range got.Changes {
		due := money.Of(s.Due.Minor, present.Currency)
		out.Changes = append(out.Changes, previewChange{
			SubscriptionID: s.Subscription, At: s.At, From: string(s.From), To: string(s.To), Due: due.Number(),
			Currency: present.Currency,
		})
	}
	return c.Send(200, out)
}
