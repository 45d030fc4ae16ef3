package paymentsviews

import (
	"context"
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Reference has the parts of a paybill payment that can name its payer.
type Reference struct {
	// OrgID owns the shortcode; zero for the platform's shared paybill, where a reference must be unique over all
	// organizations (docs/rules/payments.md#shared-paybill).
	OrgID   id.Organization
	BillRef string // as typed
	// InvoiceNumber is the field of that name in the paybill's callback, usually empty. An invoice of this number comes
	// before everything that was typed.
	InvoiceNumber string
	Phone         string // the payer's; a masked or hashed one matches no subscriber
	Currency      money.Currency
}

// Payer is the subscriber that a reference names.
type Payer struct {
	OrgID         id.Organization `db:"org_id"`
	SubscriberID  id.Subscriber   `db:"subscriber_id"`
	InvoiceID     id.Invoice      `db:"invoice_id"` // zero unless an invoice was named
	AccountNumber string          `db:"account_number"`
	// By is "invoice_number", "account_number", "account_alias", "prefixed_account", "phone", "username" or
	// "payer_phone".
	By string `db:"by"`
}

// Found is the result of matching. Without a Payer the money waits in suspense.
type Found struct {
	Payer     *Payer
	Ambiguous bool // the reference names several subscribers or invoices
	// Orgs have a customer who may be meant, by any rule: also by one that only speaks against another organization.
	Orgs []id.Organization
	// Sole is, without a Payer, the only organization whose customers may be meant: its staff finds out which one. Zero
	// = none, or several. Names that it chose freely do not make it the only one.
	Sole id.Organization
}

// Allows reports whether an organization may have money with the reference on grounds of its own, such as a prompt of
// the same account reference: the rules say that the money is its customer's, or no other organization has a customer
// who may be meant. Every organization chooses what it prompts, and whom.
func (f Found) Allows(org id.Organization) bool {
	return f.Payer != nil && f.Payer.OrgID == org ||
		!slices.ContainsFunc(f.Orgs, func(o id.Organization) bool { return o != org })
}

// MatchingQuery finds the payer of a payment across all organizations, with the platform role.
type MatchingQuery struct{ Views *runner.Views }

// matchSQL returns every candidate with the rank of the rule that found it.
//
//go:embed matching_find.sql
var matchSQL string

// suggestSQL returns subscribers with a reference that begins like the one typed.
//
//go:embed matching_suggest.sql
var suggestSQL string

// Find applies the rules in order. The first rule with a result decides, and the result must be a single payer. The
// payer's own phone is the last rule: the typed reference says more than the phone that paid. So the phone decides
// nothing when the reference has the form of an account number, or of an invoice number with a prefix that an
// organization has or had, and nobody has that number: then a person decides. On the shared paybill a person decides as
// well when another organization's candidate speaks against what its neighbour chose (round.doubtful). A reference
// longer than maxReference is ignored.
func (q MatchingQuery) Find(ctx context.Context, ref Reference) (Found, error) {
	if len(ref.BillRef) > maxReference {
		ref.BillRef = ""
	}
	typed, given := read(ref.BillRef), readReference(ref.InvoiceNumber)
	prefixes, accounts := typed.prefixes()
	naming, _ := given.prefixes()
	r, near := round{typed: typed, shared: ref.OrgID.IsZero()}, []string{}
	if r.shared { // only another organization's number counts
		near = typed.near()
	}
	err := q.Views.Platform(ctx, func(reads *postgres.Reads) {
		postgres.Collect(reads, &r.all, pgx.RowToStructByName[candidate], q.Views.SQL(MatchingName, matchSQL),
			pgx.NamedArgs{
				"org": ref.OrgID, "currency": ref.Currency, "account": typed.account, "numbers": typed.numbers(),
				"given": given.numbers(), "prefixes": prefixes, "accounts": accounts,
				"naming": slices.Concat(naming, prefixes, typed.inside.naming()), "phone": phoneKey(ref.BillRef),
				"username": usernameKey(ref.BillRef), "payer": phoneKey(ref.Phone), "alias": aliasKey(ref.BillRef),
				"near": near, "inside_accounts": typed.inside.accounts, "inside_phones": typed.inside.phones,
				"inside_invoices": typed.inside.numbers(),
			})
	})
	if err != nil {
		return Found{}, err
	}
	return r.decide(), nil
}

// maxSuggestions is the largest number of candidates offered to a person for one receipt, and mostOfRule bounds what
// one rule finds.
const (
	maxSuggestions = 5
	mostOfRule     = 10
)

// Suggested is a subscriber whom a reference may mean. Reasons are the rules that found it, the likeliest first: those
// of Payer.By, and "near_alias" for an old account number that is one slip away.
type Suggested struct {
	Payer
	Reasons []string `db:"reasons"`
}

// Suggest lists, for each reference, the subscribers that it may mean, the likeliest first, for a person to choose
// from: those of its organization, or of all organizations for a reference without one. All references cost one round
// trip.
func (q MatchingQuery) Suggest(ctx context.Context, refs ...Reference) ([][]Suggested, error) {
	lists := make([][]Suggested, len(refs))
	if len(refs) == 0 {
		return lists, nil
	}
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		for i, ref := range refs {
			if len(ref.BillRef) > maxReference {
				ref.BillRef = ""
			}
			typed, alias := read(ref.BillRef), aliasKey(ref.BillRef)
			postgres.Collect(r, &lists[i], pgx.RowToStructByName[Suggested], q.Views.SQL(MatchingName, suggestSQL),
				pgx.NamedArgs{
					"org": ref.OrgID, "key": referenceKey(ref.BillRef),
					"phones": append(typed.inside.phones, phoneKey(ref.BillRef)),
					"payer":  phoneKey(ref.Phone), "username": usernameKey(ref.BillRef), "max": maxSuggestions,
					"numbers": slices.Concat(typed.numbers(), readReference(ref.InvoiceNumber).numbers(),
						typed.inside.numbers()),
					"account": typed.account, "near": append(typed.near(), typed.inside.accounts...),
					"alias": alias, "near_aliases": nearAliases(alias), "each": mostOfRule,
				})
		}
	})
	for _, list := range lists {
		for i := range list {
			list[i].Reasons = slices.Compact(list[i].Reasons)
		}
	}
	return lists, err
}

// NumbersOf gives the account numbers of subscribers of one organization.
func (q MatchingQuery) NumbersOf(
	ctx context.Context, org id.Organization, of []id.Subscriber,
) (map[id.Subscriber]string, error) {
	numbers := map[id.Subscriber]string{}
	if len(of) == 0 {
		return numbers, nil
	}
	var found []Payer
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &found, pgx.RowToStructByName[Payer], q.Views.SQL(MatchingName, `
			select org_id, subscriber_id, null::uuid as invoice_id, account_number, '' as by from {schema}.payers
			where org_id = $1 and subscriber_id = any($2::uuid[])`), org, id.Texts(of))
	})
	for _, p := range found {
		numbers[p.SubscriberID] = p.AccountNumber
	}
	return numbers, err
}

// mostAccounts bounds the accounts of one phone that AccountsOf gives.
const mostAccounts = 10

// AccountsOf lists the subscribers of one organization with an account number, or with a phone, as somebody typed it,
// by account number; among other words only where it is the only number. Both are looked for in every case, so that the
// time of the answer does not show what the text is.
func (q MatchingQuery) AccountsOf(ctx context.Context, org id.Organization, text string) ([]id.Subscriber, error) {
	if len(text) > maxReference {
		text = ""
	}
	typed := read(text)
	accounts, phones := []string{typed.account}, []string{phoneKey(text)}
	if typed.inside.countNumbers(nil) == 1 {
		accounts, phones = append(accounts, typed.inside.accounts...), append(phones, typed.inside.phones...)
	}
	var found []id.Subscriber
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &found, pgx.RowTo[id.Subscriber], q.Views.SQL(MatchingName, `
			select subscriber_id from {schema}.payers where org_id = $1 and
				(account_number = any(array_remove($2::text[], '')) or phone = any(array_remove($3::text[], '')))
			order by account_number limit $4`), org, accounts, phones, mostAccounts)
	})
	return found, err
}
