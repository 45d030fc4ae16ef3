package paymentsviews

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// reference is one way by which a payment leads to a customer: a rule of matching_find.sql. Every value that an
// organization can choose and that money is matched by stands here, and the functions of this file decide what it may
// do to the money of other organizations (docs/rules/money.md#references).
type reference struct {
	by     string // as in Payer.By; "" leads to nobody
	column string // of matching.sql, that has the value
	// own and shared are the places among the rules on an organization's own paybill and on the platform's shared one:
	// the lowest that found somebody decides. never only speaks against another organization's candidate.
	own, shared int
}

// never is the place of what decides nothing.
const never = 0

// references are the rules. Account numbers are drawn by the program. Invoice prefixes are claimed on the platform and
// change seldom. Phones, usernames and old account numbers are chosen by the organizations, each for itself.
var references = map[string]reference{
	"given_invoice":    {by: "invoice_number", column: "invoices.number_key", own: 1, shared: 1},
	"typed_invoice":    {by: "invoice_number", column: "invoices.number_key", own: 2, shared: 2},
	"account_number":   {by: "account_number", column: "payers.account_number", own: 3, shared: 3},
	"account_alias":    {by: "account_alias", column: "aliases.alias", own: 4, shared: 8},
	"prefixed_account": {by: "prefixed_account", column: "payers.account_number", own: 5, shared: 5},
	"phone":            {by: "phone", column: "payers.phone", own: 6, shared: 6},
	"username":         {by: "username", column: "usernames.username", own: 7, shared: 7},
	"inside_account":   {by: "account_number", column: "payers.account_number", own: 9, shared: 9},
	"inside_phone":     {by: "phone", column: "payers.phone", own: 9, shared: 9},
	"inside_invoice":   {by: "invoice_number", column: "invoices.number_key", own: 9, shared: 9},
	"payer_phone":      {by: "payer_phone", column: "payers.phone", own: 10, shared: 10},
	"near_account":     {column: "payers.account_number"},
	"prefix":           {column: "prefixes.prefix"},
}

// candidate is a subscriber with the rule that found it, or, for the rule "prefix", an organization alone.
type candidate struct {
	Payer
	Rule     string `db:"rule"`
	Released bool   `db:"released"` // an invoice whose organization gave its prefix up: its payer cannot be known
	Since    int64  `db:"since"`    // position in the log from which the customer has the reference; 0 = not compared
	Matched  string `db:"matched"`
}

// name reports whether the reference is a text that an organization chose freely for its customer.
func (c candidate) name() bool { return c.Rule == "username" || c.Rule == "account_alias" }

// round is one search for a payer: what was typed, what was found, and whether it came at the shared paybill.
type round struct {
	typed  reading
	all    []candidate
	shared bool
}

// decide returns the candidate of the best rule, or Ambiguous when that rule found several, or when another
// organization's candidate speaks against it on the shared paybill. A released invoice ends the search without a payer.
func (r round) decide() Found {
	found := Found{Orgs: r.orgs()}
	var best []candidate
	at := never
	for _, c := range r.all {
		place := r.place(c)
		if place == never || at != never && place > at {
			continue
		}
		if place != at {
			best, at = nil, place
		}
		best = append(best, c)
	}
	if len(best) == 0 {
		found.Sole = r.sole()
		return found
	}
	first := best[0]
	several := slices.ContainsFunc(best, func(c candidate) bool {
		return c.SubscriberID != first.SubscriberID || c.InvoiceID != first.InvoiceID
	})
	switch {
	case several, r.shared && !first.Released && r.doubtful(first):
		found.Ambiguous, found.Sole = true, r.sole()
	case !first.Released:
		first.By = references[first.Rule].by
		found.Payer = &first.Payer
	}
	return found
}

// orgs lists the organizations that have a candidate.
func (r round) orgs() (list []id.Organization) {
	for _, c := range r.all {
		if !slices.Contains(list, c.OrgID) {
			list = append(list, c.OrgID)
		}
	}
	return list
}

// sole gives the organization that all candidates are of, also those that only speak against it, when a reference that
// it did not choose as it liked names its customer. Zero = there is none.
func (r round) sole() id.Organization {
	orgs := r.orgs()
	if len(orgs) != 1 || !slices.ContainsFunc(r.all, func(c candidate) bool {
		return !c.name() && !c.Released && references[c.Rule].own != never
	}) {
		return id.Organization{}
	}
	return orgs[0]
}

// place gives the place of a candidate's rule for this payment.
func (r round) place(c candidate) int {
	place := references[c.Rule].own
	if r.shared {
		place = references[c.Rule].shared
	}
	switch {
	case strings.HasPrefix(c.Rule, "inside_") && !r.onlyNumber(c):
		return never
	case c.Rule == "payer_phone" && (r.typed.saysMore() || len(r.invoicePrefixes()) > 0):
		return never
	case !r.shared || !c.name():
		return place
	case c.Rule == "username" && strings.HasPrefix(c.Matched, c.AccountNumber+"-"): // the program made it
		return references["account_number"].shared
	case r.looksLikeNumber(c), c.Rule == "account_alias" && r.yieldsToNeighbour(c):
		return never
	}
	return place
}

// invoicePrefixes lists the invoice prefixes of organizations that the text may name.
func (r round) invoicePrefixes() (list []string) {
	for _, c := range r.all {
		if c.Rule == "prefix" {
			list = addOnce(list, c.Matched)
		}
	}
	return list
}

// onlyNumber reports whether the number of a candidate is the only one among the words, and behind no other
// organization's invoice prefix. Two numbers match nobody.
func (r round) onlyNumber(c candidate) bool {
	return r.typed.inside.countNumbers(r.invoicePrefixes()) == 1 && !slices.ContainsFunc(r.all, func(p candidate) bool {
		return p.Rule == "prefix" && p.OrgID != c.OrgID
	})
}

// looksLikeNumber reports whether a name has the form of a number that may be anybody's, so that it is no reference on
// the shared paybill: an account number, also with a slip or among words, or a number behind an invoice prefix. An old
// account number must not be digits alone or a phone either.
func (r round) looksLikeNumber(c candidate) bool {
	return r.typed.numeric() || r.typed.inside.any() || len(r.invoicePrefixes()) > 0 ||
		c.Rule == "account_alias" && (r.typed.account != "" || r.typed.phone)
}

// yieldsToNeighbour reports whether an old account number gives way to another organization's customer: to an older
// username, and to the phone that pays while it has few digits. So a common word holds up no neighbour's money.
func (r round) yieldsToNeighbour(alias candidate) bool {
	return slices.ContainsFunc(r.all, func(c candidate) bool {
		return c.OrgID != alias.OrgID && (c.Rule == "username" && c.Since < alias.Since ||
			c.Rule == "payer_phone" && r.typed.digits < manyDigits)
	})
}

// manyDigits is how many digits a text has at least that somebody types as a number and not as a word.
const manyDigits = 4

// against lists the candidates of other organizations that speak against one. A younger old account number does not:
// it was chosen when the other reference was there.
func (r round) against(best candidate) (list []candidate) {
	for _, c := range r.all {
		younger := c.Rule == "account_alias" && best.Since > 0 && c.Since > best.Since
		if c.OrgID != best.OrgID && c.Rule != "prefix" && !younger {
			list = append(list, c)
		}
	}
	return list
}

// doubtful reports whether another organization's candidate speaks against the best one on the shared paybill. Every
// organization chooses its invoice prefix, its usernames, its customers' phones and their old account numbers, so it
// could choose what its neighbours' customers type.
func (r round) doubtful(best candidate) bool {
	against := r.against(best)
	switch {
	case best.Rule == "account_alias", best.Rule == "inside_invoice", best.Rule == "typed_invoice" && !r.typed.exact,
		best.Rule == "username" && !strings.HasPrefix(best.Matched, best.AccountNumber+"-"):
		return len(against) > 0
	case best.Rule == "typed_invoice":
		// A name of the same text speaks only at the organization whose customer pays: without the phone, names could
		// be chosen to hold up the neighbours' money.
		return slices.ContainsFunc(against, func(name candidate) bool {
			return name.name() && slices.ContainsFunc(against, func(c candidate) bool {
				return c.OrgID == name.OrgID && c.Rule == "payer_phone"
			})
		})
	case best.Rule == "phone": // of nine digits, without its zero
		return r.typed.numeric() && slices.ContainsFunc(against, func(c candidate) bool {
			return c.Rule == "near_account"
		})
	case best.Rule == "payer_phone": // what was typed as a number says more, unless it is the payer's own as well
		own, others := r.aliases(best.SubscriberID)
		return r.typed.digits >= manyDigits && others && !own
	}
	return false
}

// aliases reports whether the text is an old account number of a customer, and of others.
func (r round) aliases(of id.Subscriber) (own, others bool) {
	for _, c := range r.all {
		if c.Rule == "account_alias" {
			own, others = own || c.SubscriberID == of, others || c.SubscriberID != of
		}
	}
	return own, others
}
