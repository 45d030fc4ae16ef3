// Package historycases shows the past of aggregates to support: the events of one with what each changed, its state at
// an instant, and what differs between two. It folds with the definitions that decide, and has no rules of its own.
package historycases

import (
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Kind is one category of aggregates whose history can be read.
type Kind struct {
	Category string
	Name     string // for people, at the command line; pages have their own words
	// Role is the lowest role that reads it at an organization's host; "" = nobody does. It is the one that reads the
	// same things on other pages.
	Role events.Role
	// Platform says that a super_admin reads it at the root host also where it belongs to an organization. What belongs
	// to none is read there whatever its kind.
	Platform bool
}

// The least roles that read a kind at a host of its organization.
const (
	support = events.RoleSupport
	admin   = events.RoleAdmin
)

// Kinds lists all categories. Users and sessions are not for organizations: the record of a user names those of the
// same person elsewhere, and when and from where staff signs in is for the platform to look into. Organizations learn
// of both from their pages and from the audit log. Claims are none of them: they have no state, and the key of one is a
// hash of a value that its owner has in plain.
func Kinds() []Kind {
	return []Kind{
		{Category: commands.AccountCategory, Name: "account of a customer", Role: support},
		{Category: commands.AddressingCategory, Name: "address plan", Role: support},
		{Category: commands.AllowanceCategory, Name: "allowance of a person for a day", Role: admin},
		{Category: commands.APIKeyCategory, Name: "API key", Role: admin},
		{Category: commands.ApprovalCategory, Name: "approval by a second person", Role: support},
		{Category: commands.BatchUndoCategory, Name: "undoing of a batch", Role: support},
		{Category: commands.BillCategory, Name: "bill at the bill manager", Role: support},
		{Category: commands.BillingRunCategory, Name: "billing run", Role: support},
		{Category: commands.BillManagerCategory, Name: "settings of the bill manager", Role: admin},
		{Category: commands.BillOptInCategory, Name: "opt-in to the bill manager", Platform: true},
		{Category: commands.CompensationCategory, Name: "compensation", Role: support},
		{Category: commands.CpeCategory, Name: "device at a customer's", Role: support},
		{Category: commands.CpeCampaignCategory, Name: "deployment of firmware", Role: support},
		{Category: commands.CpeFirmwareCategory, Name: "file of firmware", Role: support},
		{Category: commands.CpeOnuCategory, Name: "optical end of a device at a customer's", Role: support},
		{Category: commands.CpeOperationCategory, Name: "write to a device at a customer's", Role: support},
		{Category: commands.CpeProvisionCategory, Name: "script for devices at customers'", Role: support},
		{Category: commands.DeviceCategory, Name: "router", Role: support},
		{Category: commands.DifferenceCategory, Name: "difference of access", Role: support},
		{Category: commands.DunningCategory, Name: "dunning of a subscription", Role: support},
		{Category: commands.DunningPolicyCategory, Name: "dunning policies", Role: support},
		{Category: commands.EnforcementCategory, Name: "change of a session", Role: support},
		{Category: commands.ExportCategory, Name: "copy of everything", Role: admin},
		{Category: commands.FuseCategory, Name: "fuse", Role: support},
		{Category: commands.GatewayCategory, Name: "payment gateway", Role: admin},
		{Category: commands.ImportCategory, Name: "import of customers", Role: admin},
		{Category: commands.LineOutageCategory, Name: "outage", Role: support},
		{Category: commands.LookupCategory, Name: "question for the audit log", Role: support},
		{Category: commands.MessageCategory, Name: "message", Role: support},
		{Category: commands.MessageSettingsCategory, Name: "texts of messages", Role: support},
		{Category: commands.NumberingCategory, Name: "series of numbers", Role: support},
		{Category: commands.OrganizationCategory, Name: "organization", Role: support, Platform: true},
		{Category: commands.OutageCategory, Name: "outage of payments", Role: support},
		{Category: commands.OutageRulesCategory, Name: "rules of outages", Role: support},
		{Category: commands.PaymentCategory, Name: "attempt to pay", Role: support},
		{Category: commands.PlanCategory, Name: "plan", Role: support},
		{Category: commands.PlanMoveCategory, Name: "move of a plan", Role: support},
		{Category: commands.ReceiptCategory, Name: "receipt", Role: support},
		{Category: commands.ReconcileCategory, Name: "run of writes to a router", Role: support},
		{Category: commands.ReconciliationCategory, Name: "statement of a provider", Role: admin},
		{Category: commands.RefundCategory, Name: "refund", Role: support},
		{Category: commands.RefusalCategory, Name: "refused request", Role: support},
		{Category: commands.ServiceCategory, Name: "service on a router", Role: support},
		{Category: commands.SessionCategory, Name: "sign-in", Platform: true},
		{Category: commands.SignatureCategory, Name: "tax document", Role: support},
		{Category: commands.SubscriberCategory, Name: "customer", Role: support},
		{Category: commands.SubscriptionCategory, Name: "subscription", Role: support},
		{Category: commands.SupportCategory, Name: "support request", Role: support},
		{Category: commands.TaxContactCategory, Name: "contact with the tax gateway", Role: admin},
		{Category: commands.TaxGatewayCategory, Name: "tax gateway", Role: admin},
		{Category: commands.TopologyCategory, Name: "order of routers", Role: support},
		{Category: commands.UsageCategory, Name: "traffic of a subscription", Role: support},
		{Category: commands.UserCategory, Name: "person who signs in", Platform: true},
		{Category: commands.VoucherBatchCategory, Name: "batch of vouchers", Role: support},
		{Category: commands.VoucherCategory, Name: "voucher", Role: support},
		{Category: commands.WebhookCategory, Name: "address of other systems", Role: admin},
	}
}

// KindOf finds a category among those that can be read at a host of an organization, or at the root host. Fails:
// history_type_not_found, also for what the other kind of host has.
func KindOf(category string, root bool) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if !root && k.Role == "" {
			continue
		}
		if k.Category == category {
			return k, nil
		}
		names = append(names, k.Category)
	}
	return Kind{}, failure.NewNotFound("history_type_not_found",
		"There is no history of this type here. These are the types: %s.", strings.Join(names, ", "))
}
