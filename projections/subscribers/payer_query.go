package subscribersviews

import (
	_ "embed"
	"slices"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// Payment has all that is known of a payer whom nobody could find: the name that the provider gives, and the amount.
type Payment struct {
	Name   string
	Amount money.Amount
}

// Likely is a subscriber who may be a payer, with what speaks for it.
type Likely struct {
	SubscriberID  id.Subscriber `db:"subscriber_id"`
	AccountNumber string        `db:"account_number"`
	Words         int           `db:"words"` // of the payer's name that are in the subscriber's
	Owes          bool          `db:"owes"`  // exactly this amount
}

// mostLikely bounds what a name or an amount alone may find: what fits more customers says nothing about any of them.
// mostWorded bounds how many customers with a word of the name are compared with the amount.
const (
	mostLikely = 5
	mostWorded = 10_000
)

// payerFindSQL gives few subscribers, or none: never those whom many are like.
//
//go:embed payer_find.sql
var payerFindSQL string

// payerWeighSQL gives a row for each subscriber who is asked about and not forgotten; its columns fit Likely.
//
//go:embed payer_weigh.sql
var payerWeighSQL string

// payerWords are the words of a name that can tell people apart: at least three letters long, and no numbers.
// Never nil.
func payerWords(name string) []string {
	words := []string{}
	for _, w := range searchterm.Typed(name) {
		letters := []rune(w)
		if len(letters) >= 3 && unicode.IsLetter(letters[0]) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// LikePayer queues the search for subscribers of an organization who may have made a payment: by two words of the name,
// by the amount that they owe, or by both when either alone fits too many.
func (q SubscribersQuery) LikePayer(r *postgres.Reads, into *[]id.Subscriber, org id.Organization, of Payment) {
	postgres.Collect(r, into, pgx.RowTo[id.Subscriber], q.Views.SQL(SubscribersName, payerFindSQL), pgx.NamedArgs{
		"org": org, "words": payerWords(of.Name), "amount": of.Amount.Minor, "currency": of.Amount.Currency,
		"most": mostLikely, "most_worded": mostWorded,
	})
}

// WeighPayer queues the question what speaks for each of some subscribers. Those who were forgotten are left out.
func (q SubscribersQuery) WeighPayer(
	r *postgres.Reads, into *[]Likely, org id.Organization, of Payment, who []id.Subscriber,
) {
	postgres.Collect(r, into, pgx.RowToStructByName[Likely], q.Views.SQL(SubscribersName, payerWeighSQL), pgx.NamedArgs{
		"org": org, "words": payerWords(of.Name), "amount": of.Amount.Minor, "currency": of.Amount.Currency,
		"who": id.Texts(who),
	})
}

// pricedSQL gives those of some subscribers who have a service at a price.
const pricedSQL = `
select distinct subscriber_id from {schema}.subscriptions
where org_id = @org and subscriber_id = any(@who::uuid[]) and state <> 'ended'
	and (terms->'price'->>'minor')::bigint = @amount and terms->'price'->>'currency' = @currency`

// AtPrice queues the question which of some subscribers have a service at the price of an amount.
func (q SubscriptionsQuery) AtPrice(
	r *postgres.Reads, into *[]id.Subscriber, org id.Organization, price money.Amount, who []id.Subscriber,
) {
	postgres.Collect(r, into, pgx.RowTo[id.Subscriber], q.Views.SQL(SubscriptionsName, pricedSQL), pgx.NamedArgs{
		"org": org, "who": id.Texts(who), "amount": price.Minor, "currency": price.Currency,
	})
}
