package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriptionAddressesAssigned records all addresses that belong to a subscription; those that it does not name are
// free again. They name the customer's equipment, so they are personal.
type SubscriptionAddressesAssigned struct {
	SubscriptionID   id.Subscription `json:"subscriptionId"`
	SubscriberID     id.Subscriber   `json:"subscriberId"`
	StaticIP         personal.Text   `json:"staticIp"`         // IPv4; empty = from a pool
	StaticIPv6Prefix personal.Text   `json:"staticIpv6Prefix"` // such as "2001:db8:1::/56"; empty = from a pool
	// MACAddresses are the only equipment that may sign in, written "AA:BB:CC:DD:EE:FF"; empty = any.
	MACAddresses []personal.Text `json:"macAddresses"`
	// Routes are networks of the customer behind the address, such as "203.0.113.0/29" and "2001:db8:5::/48".
	Routes []personal.Text `json:"routes,omitempty"`
	At     time.Time       `json:"at"`
}

// SubscriptionCredentialsSet records the login that the network accepts from now on. The password is in the vault.
type SubscriptionCredentialsSet struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Username       personal.Text   `json:"username"`
	PasswordRef    id.Secret       `json:"passwordRef"`
	At             time.Time       `json:"at"`
}

// SubscriptionCredentialsShown records that somebody was given username and password in clear text. It is recorded
// before they are shown.
type SubscriptionCredentialsShown struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PasswordRef    id.Secret       `json:"passwordRef"` // zero = there was no password
	At             time.Time       `json:"at"`
}

func (SubscriptionAddressesAssigned) EventType() string {
	return "subscribers.SubscriptionAddressesAssigned.v1"
}
func (SubscriptionCredentialsSet) EventType() string {
	return "subscribers.SubscriptionCredentialsSet.v1"
}
func (SubscriptionCredentialsShown) EventType() string {
	return "subscribers.SubscriptionCredentialsShown.v1"
}
func (SubscriptionAddressesAssigned) subscriptionEvent() {}
func (SubscriptionCredentialsSet) subscriptionEvent()    {}
func (SubscriptionCredentialsShown) subscriptionEvent()  {}

func (e SubscriptionAddressesAssigned) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
func (e SubscriptionCredentialsSet) PersonalSubject() uuid.UUID    { return e.SubscriberID.UUID() }
