package subscribersviews

import (
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// secondEndsSQL is phoneEndsSQL for the second phone.
const secondEndsSQL = `
select subscriber_id from {schema}.subscribers
where org_id = @org and second_reversed <> '' and second_reversed >= @tail and second_reversed < @tail_to
order by second_reversed, subscriber_id limit @max`

// phoneEndsSQL finds the subscribers whose phone ends with digits.
const phoneEndsSQL = `
select subscriber_id from {schema}.subscribers
where org_id = @org and phone_reversed <> '' and phone_reversed >= @tail and phone_reversed < @tail_to
order by phone_reversed, subscriber_id limit @max`

// Find queues a search: for customers of an organization of whom each word begins a name, phone, e-mail address or
// account number, and for those whose phone ends with the digits that were typed. Of each kind the first ones come, at
// most three times max in all, in no order. Forgotten persons are not found.
func (q SubscribersQuery) Find(r *postgres.Reads, into *[]SubscriberRow, org id.Organization, text string, max int) {
	sql, args := findSQL(org, text, max)
	postgres.Collect(r, into, pgx.RowToStructByName[SubscriberRow], q.Views.SQL(SubscribersName, sql), args)
}

// findSQL builds the statement of Find.
func findSQL(org id.Organization, text string, max int) (string, pgx.NamedArgs) {
	args := pgx.NamedArgs{"org": org, "max": max}
	found := []string{}
	if words := typed(text); len(words) > 0 {
		sql, more := searchterm.RowsSQL("subscriber_id", words, max)
		found = append(found, "("+sql+")")
		maps.Copy(args, more)
	}
	if tail := searchTail(text); tail != "" {
		found = append(found, "("+phoneEndsSQL+")", "("+secondEndsSQL+")")
		args["tail"], args["tail_to"] = reversed(tail), searchterm.End(reversed(tail))
	}
	if len(found) == 0 {
		found = append(found, "select null::uuid")
	}
	return `select ` + subscriberColumns + `, ` + withoutServices + ` from {schema}.subscribers s
		where s.status <> 'forgotten' and s.subscriber_id = any(array(` + strings.Join(found, " union ") + `))`, args
}

// Found says what of a row a search has found. It is zero for a row that does not fit it.
func (r SubscriberRow) Found(text string) searchterm.Match {
	words := searchWords(text)
	if len(words) == 1 {
		phone, second := phoneTerm(null.Zero(r.Phone)), phoneTerm(r.SecondPhone)
		for _, f := range []struct{ by, word, term string }{
			{"account", words[0], r.AccountNumber},
			{"phone", words[0], phone}, {"phone", kenyanBegins(words[0]), phone},
			{"phone", words[0], second}, {"phone", kenyanBegins(words[0]), second},
			{"email", words[0], strings.ToLower(null.Zero(r.Email))},
		} {
			if f.word != "" && strings.HasPrefix(f.term, f.word) {
				return searchterm.Match{By: f.by, Whole: f.term == f.word}
			}
		}
		if tail := searchTail(text); tail != "" &&
			(strings.HasSuffix(null.Zero(r.Phone), tail) || strings.HasSuffix(r.SecondPhone, tail)) {
			// A local number without the 0 is a whole one, as the country code says nothing.
			return searchterm.Match{By: "phone", Whole: len(tail) > accountLength}
		}
	}
	names := searchterm.Words(r.Name())
	if begin, whole := searchterm.Begin(words, names); begin {
		return searchterm.Match{By: "name", Whole: whole}
	}
	if len(words) == 0 {
		return searchterm.Match{}
	}
	return searchterm.Match{By: "name"} // a name and a number together
}

// Name is the customer's whole name, "" of a forgotten person.
func (r SubscriberRow) Name() string {
	return strings.TrimSpace(null.Zero(r.FirstName) + " " + null.Zero(r.LastName))
}
