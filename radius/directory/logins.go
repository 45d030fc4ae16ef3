package directory

import (
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loginname"
)

// login names a user within an organization, by the folded name: a router may write it in another notation than staff
// has (docs/rules/subscribers.md#usernames).
type login struct {
	org  id.Organization
	name string
}

// loginOf is the login of a name in any notation.
func loginOf(org id.Organization, name string) login { return login{org, loginname.Fold(name)} }

// dialledAs is named for the name of a packet, of which usual ones need no copy. The caller holds the lock.
func (d *Directory) dialledAs(org id.Organization, name []byte) *service {
	if loginname.IsFolded(name) {
		if s := d.byName[login{org, string(name)}]; s != nil || !d.realmless[org] {
			return s
		}
	}
	return d.named(org, string(name))
}

// named finds the subscription that has a name. Where the organization wants it, a name that nobody has counts without
// its realm: whoever has the whole name comes first. The caller holds the lock.
func (d *Directory) named(org id.Organization, name string) *service {
	s := d.byName[loginOf(org, name)]
	if s == nil && d.realmless[org] {
		s = d.byName[loginOf(org, loginname.WithoutRealm(name))]
	}
	return s
}

// formerlyNamed is named for the subscription that had a name last. The caller holds the lock.
func (d *Directory) formerlyNamed(org id.Organization, name string) (id.Subscription, bool) {
	it, found := d.traces.byName[loginOf(org, name)]
	if !found && d.realmless[org] {
		it, found = d.traces.byName[loginOf(org, loginname.WithoutRealm(name))]
	}
	return it, found
}
