package subscribers

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// errEnded refuses a change of a subscription that never serves again.
func errEnded() error {
	return failure.NewConflict("subscription_ended", "This subscription has ended.")
}

// decideAddresses replaces the addresses; equal ones in the same order give no event.
func decideAddresses(s Subscription, c commands.AssignAddresses, now time.Time) ([]events.SubscriptionEvent, error) {
	present := s.Addresses
	switch {
	case c.Addresses.StaticIP.Equal(present.StaticIP) && c.Addresses.StaticIPv6Prefix.Equal(present.StaticIPv6Prefix) &&
		slices.EqualFunc(c.Addresses.MACAddresses, present.MACAddresses, personal.Text.Equal) &&
		slices.EqualFunc(c.Addresses.Routes, present.Routes, personal.Text.Equal):
		return nil, nil
	case s.State == Ended:
		return nil, errEnded()
	}
	return []events.SubscriptionEvent{assigned(s, c.Addresses, now)}, nil
}

// assigned records that a subscription has these addresses and no others.
func assigned(s Subscription, a commands.ServiceAddresses, now time.Time) events.SubscriptionAddressesAssigned {
	return events.SubscriptionAddressesAssigned{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, StaticIP: a.StaticIP,
		StaticIPv6Prefix: a.StaticIPv6Prefix, MACAddresses: a.MACAddresses, Routes: a.Routes, At: now,
	}
}

// decideCredentials replaces username and password; the present ones give no event.
func decideCredentials(s Subscription, c commands.SetCredentials, now time.Time) ([]events.SubscriptionEvent, error) {
	switch {
	case c.Username.Equal(s.Username) && c.PasswordRef == s.PasswordRef:
		return nil, nil
	case s.State == Ended:
		return nil, errEnded()
	}
	return []events.SubscriptionEvent{events.SubscriptionCredentialsSet{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Username: c.Username, PasswordRef: c.PasswordRef, At: now,
	}}, nil
}
