package subscribersviews

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// findSubscriptionsSQL finds the subscriptions that have a term in one of some ranges. Those that have not ended come
// first.
const findSubscriptionsSQL = subscriptionSelect + `
where s.subscription_id = any(array(
	select t.subscription_id from unnest(@from::text[], @to::text[]) w (low, high)
	cross join lateral (select t.subscription_id from {schema}.terms t
		where t.org_id = @org and t.term >= w.low and t.term < w.high
		order by t.term, t.subscription_id limit @max) t
	limit 2 * @max))
order by s.state = 'ended', s.subscription_id limit @max`

// Find queues a search for up to max subscriptions of an organization whose username, a MAC address of whose equipment,
// or whose static address begins with a text, or whose static prefix has the address that was typed.
func (q SubscriptionsQuery) Find(
	r *postgres.Reads, into *[]SubscriptionRow, org id.Organization, text string, max int,
) {
	sql, args := findSubscriptions(org, text, max)
	postgres.Collect(r, into, pgx.RowToStructByName[SubscriptionRow], q.Views.SQL(SubscriptionsName, sql), args)
}

// findSubscriptions is the statement of Find.
func findSubscriptions(org id.Organization, text string, max int) (string, pgx.NamedArgs) {
	from := subscriptionTerms(text)
	to := make([]string, len(from))
	for i, term := range from {
		to[i] = searchterm.End(term)
	}
	return findSubscriptionsSQL, pgx.NamedArgs{"org": org, "from": from, "to": to, "max": max}
}

// Lengths of static prefixes and routes, in bits. Source: docs/rules/subscribers.md#addresses.
const (
	shortestStatic = 40
	longestStatic  = 64
	shortestRoute  = 16 // of IPv4
)

// subscriptionTerms are the beginnings of terms that a search looks for. The prefixes that have an address are among
// them, since one of these may be the static prefix or a route of a subscription. Never nil.
func subscriptionTerms(text string) []string {
	list := []string{}
	if term := strings.ToLower(strings.TrimSpace(text)); term != "" {
		list = append(list, searchterm.Cut(term))
		if folded := usernameTerm(term); folded != list[0] {
			list = append(list, folded)
		}
	}
	if mac := searchterm.MAC(text); mac != "" {
		list = append(list, mac)
	}
	ip, from, to := searchterm.Address(text), shortestStatic, longestStatic
	if ip.Is4() {
		from, to = shortestRoute, ip.BitLen()
	}
	for bits := from; ip.IsValid() && bits <= to; bits++ {
		if p, err := ip.Prefix(bits); err == nil {
			list = append(list, p.String())
		}
	}
	return list
}

// Found says what of a row a search has found. It is zero for a row that does not fit it.
func (r SubscriptionRow) Found(text string) searchterm.Match {
	typed := strings.ToLower(strings.TrimSpace(text))
	has := func(value *string) (begins, whole bool) {
		return null.Zero(value) != "" && strings.HasPrefix(strings.ToLower(*value), typed),
			null.Zero(value) != "" && strings.ToLower(*value) == typed
	}
	mac, name := searchterm.MAC(text), usernameTerm(null.Zero(r.Username))
	if begins, whole := has(r.Username); begins || name != "" && strings.HasPrefix(name, usernameTerm(typed)) {
		return searchterm.Match{By: "username", Whole: whole || name == usernameTerm(typed)}
	}
	if mac != "" && strings.HasPrefix(name, mac) {
		return searchterm.Match{By: "username", Whole: name == mac}
	}
	if mac != "" && slices.ContainsFunc(r.MACAddresses, func(of string) bool {
		return strings.HasPrefix(of, mac)
	}) {
		return searchterm.Match{By: "mac", Whole: len(mac) == searchterm.WholeMAC}
	}
	for _, value := range append([]*string{r.StaticIP, r.StaticIPv6}, pointers(r.Routes)...) {
		if begins, whole := has(value); begins {
			return searchterm.Match{By: "ip", Whole: whole}
		}
	}
	for _, network := range append([]string{null.Zero(r.StaticIPv6)}, r.Routes...) {
		if p, err := netip.ParsePrefix(network); err == nil && p.Contains(searchterm.Address(text)) {
			return searchterm.Match{By: "ip", Whole: true}
		}
	}
	return searchterm.Match{}
}

// pointers points at each text of a list.
func pointers(list []string) []*string {
	out := make([]*string, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
