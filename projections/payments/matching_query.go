package paymentsviews

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Reference is what a paybill payment says about its payer.
type Reference struct {
	// OrgID owns the shortcode; zero for a platform one, on which everything must be unique over all tenants
	// (docs/rules/payments.md#shared-paybill).
	OrgID    id.Organization
	BillRef  string // as typed
	Phone    string // the payer's; masked or hashed ones identify nobody
	Currency money.Currency
}

// Payer is who a reference names.
type Payer struct {
	OrgID         id.Organization `db:"org_id"`
	SubscriberID  id.Subscriber   `db:"subscriber_id"`
	InvoiceID     id.Invoice      `db:"invoice_id"` // zero unless an invoice was named
	AccountNumber string          `db:"account_number"`
	// "invoice_number", "account_number", "prefixed_account", "phone", "username", "payer_phone"
	By string `db:"by"`
}

// Found is the answer to "whose money is this?". Without a Payer the money waits in suspense.
type Found struct {
	Payer     *Payer
	Ambiguous bool // the reference names several
}

// MatchingQuery finds payers.
type MatchingQuery struct{ Views *runner.Views }

// matchSQL gives every candidate with the rank of the rule that found it.
//
//go:embed matching_find.sql
var matchSQL string

// suggestSQL gives candidates that come near.
//
//go:embed matching_suggest.sql
var suggestSQL string

// candidate is a payer with the rank of its rule, 1 being the first.
type candidate struct {
	Payer
	Rank int `db:"rank"`
}

// Find applies the rules in order; the first rule that names anybody decides, and it must name one only. The payer's
// own phone comes last: what was typed says more than who typed it.
func (q MatchingQuery) Find(ctx context.Context, ref Reference) (Found, error) {
	if len(ref.BillRef) > maxReference {
		ref.BillRef = ""
	}
	key := referenceKey(ref.BillRef)
	var all []candidate
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &all, pgx.RowToStructByName[candidate], q.Views.SQL(MatchingName, matchSQL), pgx.NamedArgs{
			"org": ref.OrgID, "currency": ref.Currency, "key": key, "prefixes": prefixesOf(key),
			"phone": phoneKey(ref.BillRef), "username": usernameKey(ref.BillRef), "payer": phoneKey(ref.Phone),
		})
	})
	if err != nil {
		return Found{}, err
	}
	return decide(all), nil
}

// decide takes the best rule's candidate, unless there are several.
func decide(all []candidate) Found {
	if len(all) == 0 {
		return Found{}
	}
	best := all[0]
	for _, c := range all[1:] {
		if c.Rank < best.Rank {
			best = c
		}
	}
	for _, c := range all {
		if c.Rank == best.Rank && (c.SubscriberID != best.SubscriberID || c.InvoiceID != best.InvoiceID) {
			return Found{Ambiguous: true}
		}
	}
	return Found{Payer: &best.Payer}
}

// maxSuggestions bounds the candidates offered to a person.
const maxSuggestions = 5

// Suggest lists, for each reference, subscribers of its organization that it may mean, for a person to choose from: one
// round trip for all.
func (q MatchingQuery) Suggest(ctx context.Context, refs ...Reference) ([][]Payer, error) {
	lists := make([][]Payer, len(refs))
	if len(refs) == 0 {
		return lists, nil
	}
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		for i, ref := range refs {
			postgres.Collect(r, &lists[i], pgx.RowToStructByName[Payer], q.Views.SQL(MatchingName, suggestSQL),
				pgx.NamedArgs{
					"org": ref.OrgID, "key": referenceKey(ref.BillRef), "phone": phoneKey(ref.BillRef),
					"payer": phoneKey(ref.Phone), "username": usernameKey(ref.BillRef), "max": maxSuggestions,
				})
		}
	})
	return lists, err
}
