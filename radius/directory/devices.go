package directory

import (
	"cmp"
	"slices"
	"time"
)

// maxOfDevice is to how many subscriptions and to how many vouchers of an organization a device leads
// (docs/rules/access-radius.md#what-a-subscription-decides). All of them are looked through while others wait.
const maxOfDevice = 16

// lead makes the devices of a subscription lead to it. Of more than a few subscriptions a device leads to those that
// give most at the moment; another one is weighed again with each event about it, a payment for instance. The caller
// holds the lock.
func (d *Directory) lead(s *service) {
	if s.byMAC == nil {
		return
	}
	now := d.when(d.mark())
	for _, mac := range s.macs {
		key := device{s.org, mac}
		list := d.byMAC[key]
		if slices.Contains(list, s) {
			continue
		}
		delete(d.traces.byMAC, key)
		if list = append(list, s); len(list) > maxOfDevice {
			least := slices.MinFunc(list, func(a, b *service) int {
				return cmp.Or(d.compare(a, b, now), a.touched.applied.Compare(b.touched.applied))
			})
			list = slices.DeleteFunc(list, func(o *service) bool { return o == least })
		}
		d.byMAC[key] = list
	}
}

// ofMAC is the subscription that a device may use without a password: of several the one that gives most. The caller
// holds the lock.
func (d *Directory) ofMAC(key device, at time.Time) *service {
	list := d.byMAC[key]
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return slices.MaxFunc(list, func(a, b *service) int { return d.compare(a, b, at) })
}

// compare orders two subscriptions by how much they give at an instant. The caller holds the lock.
func (d *Directory) compare(a, b *service, at time.Time) int {
	return int(d.verdict(a, at).access) - int(d.verdict(b, at).access)
}
