package events

// Types of the messages for other systems. They are part of the public contract: a name and what it stands for never
// change (docs/rules/webhooks.md#types).
const (
	OutboxPaymentSucceeded      = "payment.succeeded"      // money came in and is on a customer's account
	OutboxPaymentFailed         = "payment.failed"         // a prompt ended without money; a cancel counts
	OutboxInvoiceCreated        = "invoice.created"        // an invoice has its number and is payable
	OutboxSubscriptionActivated = "subscription.activated" // service begins, is restored or is resumed
	OutboxSubscriptionSuspended = "subscription.suspended" // a customer who did not pay has no access from now on
	OutboxWalledGarden          = "dunning.walled_garden"  // such a customer reaches only the payment page from now on
	OutboxCpeClaimed            = "cpe.claimed"            // an administrator claimed a device at a customer's
	OutboxCpeAssigned           = "cpe.assigned"           // the platform gave one to an organization
	OutboxServiceDrifted        = "nas.service.drift_detected"
	OutboxSetupDrifted          = "nas.device.setup_drift_detected"
)

// OutboxPing is the type of a message that only tries an endpoint. Nobody chooses it: it goes to who is pinged.
const OutboxPing = "webhook.ping"

// OutboxTypes are the types that an endpoint can choose.
func OutboxTypes() []string {
	return []string{
		OutboxPaymentSucceeded, OutboxPaymentFailed, OutboxInvoiceCreated, OutboxSubscriptionActivated,
		OutboxSubscriptionSuspended, OutboxWalledGarden, OutboxCpeClaimed, OutboxCpeAssigned, OutboxServiceDrifted,
		OutboxSetupDrifted,
	}
}
