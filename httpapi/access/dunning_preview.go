package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/events"
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
	SubscriptionID id.Subscription        `json:"subscriptionId"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	At             time.Time              `json:"at"`
	From           events.DunningState    `json:"from"`
	To             events.DunningState    `json:"to"`
	Due            httpapi.Number         `json:"due"`
	Currency       money.Currency         `json:"currency"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *previewResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	for i := range r.Changes {
		r.Changes[i].Subscriber = name(r.Changes[i].SubscriberID)
	}
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
	moved := make([]id.Subscription, len(got.Changes))
	for i, change := range got.Changes {
		moved[i] = change.Subscription
	}
	whose, err := a.Dunning.Subscribers(ctx, c.Org.ID, moved)
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
			SubscriptionID: s.Subscription, SubscriberID: whose[s.Subscription], At: s.At, From: s.From, To: s.To,
			Due: due.Number(), Currency: present.Currency,
		})
	}
	return httpapi.SendNamed(ctx, c, 200, out)
}
