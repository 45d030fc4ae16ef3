package paymentsapi

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// receiptSuggestions is one subscriber to whom money in suspense may belong.
type receiptSuggestions struct {
	SubscriberID  id.Subscriber          `json:"subscriberId"`
	Subscriber    *httpapi.SubscriberRef `json:"subscriber" doc:"null at the root host"`
	AccountNumber string                 `json:"accountNumber" doc:"empty at the root host"`
	By            string                 `json:"by" doc:"what says most for it; prompt: a payment"`
	Reason        string                 `json:"reason" doc:"the same as by"`
	Reasons       []suggestionReason     `json:"reasons" doc:"all that speaks for it, what says most first"`
	PaymentID     id.Payment             `json:"paymentId,omitzero" doc:"of prompt: it may be this payment's money"`
	InitiatedAt   time.Time              `json:"initiatedAt,omitzero" doc:"of prompt: when the phone was asked"`
	// OrgID is told at the root host, which decides whose the money is.
	OrgID    id.Organization `json:"orgId,omitzero" doc:"at the root host: whose customer, or who asked"`
	Credited bool            `json:"credited,omitempty" doc:"of prompt: on the account already, provisionally"`
}

// suggestionReason is one thing that speaks for a suggestion.
type suggestionReason struct {
	By     string     `json:"by" doc:"see docs/rules/money.md#suggestions"`
	Text   string     `json:"text" doc:"in words"`
	Times  int        `json:"times,omitempty" doc:"of history: how many of the payer's newest payments"`
	LastAt *time.Time `json:"lastAt,omitempty" doc:"of history: the last of them"`
}

// suggestionTexts say in words why money in suspense may be a customer's.
var suggestionTexts = map[string]string{
	"prompt":         "This customer was asked for this amount at that time.",
	"invoice_number": "The text is, or is one slip away from, an invoice number of this customer.",
	"account_number": "The text is, or is one slip away from, this account number.",
	"account_alias":  "The text is an old account number of this customer.",
	"near_alias":     "The text is one slip away from an old account number of this customer.",
	"phone":          "The text is this customer's phone number.",
	"payer_phone":    "The phone that paid is this customer's.",
	"username":       "The text is like a user name of this customer.",
	"name":           "The payer's name is this customer's.",
	"one_name":       "One word of the payer's name is in this customer's.",
	"amount_owed":    "This customer owes exactly this amount.",
	"plan_price":     "The amount is the price of this customer's plan.",
}

// reasonText says a reason in words.
func reasonText(r paymentscases.Reason) string {
	if r.By != "history" {
		return suggestionTexts[r.By]
	}
	if r.Times == 1 {
		return "This payer has paid for this customer once before."
	}
	return fmt.Sprintf("This payer has paid for this customer %d times before.", r.Times)
}

// showSuggestions lists first the attempts whose money a receipt may be, then the subscribers.
func showSuggestions(d receiptDetail) []receiptSuggestions {
	list := []receiptSuggestions{}
	for _, p := range d.open {
		list = append(list, receiptSuggestions{
			SubscriberID: p.SubscriberID, AccountNumber: p.account, By: "prompt", Reason: "prompt",
			Reasons:   []suggestionReason{{By: "prompt", Text: suggestionTexts["prompt"]}},
			PaymentID: p.ID, InitiatedAt: p.InitiatedAt, OrgID: p.org, Credited: p.Provisional,
		})
	}
	for _, s := range d.near {
		one := receiptSuggestions{
			SubscriberID: s.SubscriberID, AccountNumber: s.AccountNumber, By: s.Reasons[0].By, Reason: s.Reasons[0].By,
		}
		if d.row.OrgID.IsZero() { // the root host decides between organizations; whose customer it is, is their matter
			one.OrgID, one.AccountNumber = s.OrgID, ""
		}
		for _, r := range s.Reasons {
			shown := suggestionReason{By: r.By, Text: reasonText(r), Times: r.Times}
			if !r.LastAt.IsZero() {
				shown.LastAt = null.Of(r.LastAt)
			}
			one.Reasons = append(one.Reasons, shown)
		}
		list = append(list, one)
	}
	return list
}
