package catalog

import (
	"encoding/json"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
)

// upcasters convert old versions to present ones; each area lists its own.
var upcasters = slices.Concat(auditUpcasters(), billingUpcasters(), paymentsUpcasters(), subscribersUpcasters(),
	remarkUpcasters(), networkUpcasters())

// unchanged is the conversion to a version that only has further fields, which are absent in old events.
func unchanged(data json.RawMessage) (json.RawMessage, error) { return data, nil }

// Events lists one zero value of every event type, for readers that choose types by their Go types.
func Events() []events.Event { return all() }

// all lists one zero value of every event type. A test compares it with the source of package events.
func all() []events.Event {
	var list []events.Event
	for _, area := range [][]events.Event{
		identity(), subscribers(), billing(), payments(), network(), access(), cpe(), messaging(), claims(), audit(),
		outages(), webhooks(),
	} {
		list = append(list, area...)
	}
	return list
}

// identity lists the events of organizations, users, sessions and API keys.
func identity() []events.Event {
	return []events.Event{
		events.OrganizationCreated{}, events.OrganizationRenamed{}, events.BillingSettingsAdopted{},
		events.InvoicePrefixReleased{}, events.AdministratorSeated{}, events.AdministratorReleased{},
		events.OrganizationLogoChosen{}, events.OrganizationLogoRemoved{},
		events.OrganizationSuspended{}, events.OrganizationResumed{}, events.UserRegistered{},
		events.AddressKeptApart{}, events.AddressProven{}, events.UserDetailsCorrected{},
		events.MembershipGranted{}, events.MembershipDetailsCorrected{}, events.MembershipAccepted{},
		events.MembershipRoleAssigned{}, events.MembershipDisabled{},
		events.MembershipEnabled{}, events.PasswordChanged{}, events.TemporaryPasswordGiven{},
		events.PortalAccessGiven{}, events.PortalAccessEnded{}, events.UserForgotten{},
		events.LoginEmailChanged{}, events.LoginPhoneChanged{}, events.SecondFactorEnrolled{},
		events.RecoveryCodeUsed{}, events.SecondFactorRemoved{}, events.SecondFactorRequired{},
		events.SecondFactorMadeOptional{}, events.ApprovalLimitSet{}, events.ApprovalLimitRemoved{},
		events.SessionStarted{}, events.SessionEnded{}, events.APIKeyIssued{}, events.APIKeyRotated{},
		events.APIKeyRevoked{},
	}
}

// subscribers lists the events of subscribers, plans and subscriptions.
func subscribers() []events.Event {
	return []events.Event{
		events.SubscriberRegistered{}, events.SubscriberDetailsCorrected{}, events.SubscriberBlocked{},
		events.SubscriberUnblocked{}, events.SubscriberForgotten{},
		events.PlanCreated{}, events.PlanRevised{}, events.PlanArchived{},
		events.SubscriptionAddressesAssigned{}, events.SubscriptionCredentialsSet{},
		events.SubscriptionCredentialsShown{},
		events.SubscriptionCreated{}, events.PeriodDue{}, events.SubscriptionActivated{}, events.SubscriptionExtended{},
		events.PeriodWithdrawn{}, events.PeriodCancelled{},
		events.PeriodReissued{}, events.UndoneWaitEnded{}, events.SubscriptionPaused{}, events.SubscriptionResumed{},
		events.BillingSuspended{}, events.BillingResumed{},
		events.SubscriptionEnded{}, events.SubscriptionPeriodClosed{}, events.PaidTimeCarriedOver{},
		events.ImportAsked{}, events.ImportPartDone{}, events.ImportFinished{},
		events.ImportRowsLost{}, events.ImportBegunAgain{}, events.ExportFailed{},
		events.PlanMoveAsked{}, events.PlanMovePartDone{}, events.PlanMoveFinished{},
		events.ExportAsked{}, events.ExportFinished{}, events.ExportFetched{},
		events.SubscriptionCompensated{}, events.CompensationTakenBack{},
		events.SubscriptionPlanChanged{}, events.PlanChangePlanned{}, events.PlanChangeMoved{},
		events.PlanChangeDropped{},
		events.ExtraAdded{},
		events.ExtraRemoved{},
		events.ChargesDue{},
	}
}

// billing lists the events of accounts and number series.
func billing() []events.Event {
	return []events.Event{
		events.AccountOpened{}, events.AccountClosed{},
		events.InvoiceDrafted{}, events.InvoiceIssued{}, events.InvoiceVoided{},
		events.ReceiptCredited{}, events.BalanceCarriedOver{},
		events.InvoiceAllocated{}, events.InvoicePaid{}, events.InvoiceCancelled{},
		events.CreditLeft{}, events.CreditNoteDrafted{}, events.CreditNoteIssued{}, events.ReceiptWithdrawn{},
		events.AllocationWithdrawn{}, events.InvoiceReopened{}, events.PromptReserved{}, events.PromptReleased{},
		events.AccountPeriodClosed{}, events.CreditSetAside{}, events.SetAsideReturned{}, events.SetAsidePaidOut{},
		events.DebtWrittenOff{}, events.InvoiceWrittenOff{}, events.WriteOffRecovered{}, events.RecoveryWithdrawn{},
		events.RecoveryWaived{},
		events.CreditNoteVoided{}, events.NumberGranted{}, events.NumberingPeriodClosed{},
		events.BillingRunRequested{}, events.BillingRunBegan{}, events.BillingRunHeld{}, events.BillingRunReleased{},
		events.BillingRunFinished{}, events.BatchUndoAsked{}, events.BatchUndoPartDone{}, events.BatchUndoFinished{},
		events.FuseHeld{}, events.FuseReleased{}, events.AllowanceUsed{}, events.AllowanceReturned{},
		events.ApprovalRequested{}, events.ApprovalGranted{}, events.ApprovalRefused{}, events.ApprovalWithdrawn{},
		events.ApprovalExpired{}, events.ApprovalCarriedOut{}, events.ApprovalFailed{},
		events.TaxGatewayConfigured{}, events.TaxGatewayFailed{}, events.TaxGatewayAnswered{},
		events.SignatureQueued{}, events.SigningBegan{}, events.DocumentSigned{},
		events.SignatureRefused{}, events.SignatureRetried{}, events.SignatureWithdrawn{}, events.CancellationDue{},
	}
}

// payments lists the events of gateway settings, prompt attempts and receipts.
func payments() []events.Event {
	return []events.Event{
		events.GatewayConfigured{}, events.GatewayRegistered{}, events.GatewayRegistrationFailed{},
		events.PaymentInitiated{}, events.PromptSubmitting{}, events.PromptAccepted{}, events.PromptInDoubt{},
		events.PromptChecked{}, events.PromptCheckRequested{}, events.PaymentSucceeded{}, events.ProvisionalClaimed{},
		events.ProvisionalSuperseded{}, events.PaymentPaidElsewhere{}, events.PaymentCancelled{},
		events.PaymentFailed{}, events.PaymentExpired{},
		events.ReceiptRecorded{}, events.ReceiptSighted{}, events.ReceiptDisputed{}, events.ReceiptMatched{},
		events.ReceiptHeld{}, events.ReceiptAbsorbed{}, events.ReceiptUnclaimed{}, events.ReceiptStalled{},
		events.ReceiptAssigned{}, events.ReceiptClaimed{}, events.ReceiptReversed{}, events.ReceiptReattributed{},
		events.ReceiptSetAside{}, events.ReceiptReturned{}, events.ReceiptRefunded{},
		events.RefundRequested{}, events.RefundSecured{}, events.RefundApproved{}, events.RefundCompleted{},
		events.RefundFailed{}, events.RefundSubmitted{}, events.RefundAcknowledged{}, events.RefundDoubted{},
		events.ReconciliationStarted{}, events.ReconciliationCompared{}, events.ReconciliationFailed{},
		events.ReconciliationAdoptionStarted{}, events.ReconciliationAdopted{},
		events.BillManagerOptedIn{}, events.BillManagerConfigured{},
		events.BillQueued{}, events.BillOffered{}, events.BillFreed{}, events.BillDelayed{},
		events.BillSent{}, events.BillFailed{},
		events.BillRecalled{}, events.BillCancelled{}, events.BillSettled{}, events.BillReopened{}, events.BillPaid{},
		events.BillAcknowledged{},
	}
}

// network lists the events of routers, services, address plans and runs of writes.
func network() []events.Event {
	return []events.Event{
		events.DeviceBootstrapShown{},
		events.DeviceCustomersRead{},
		events.DeviceRegistered{}, events.DeviceDetailsCorrected{}, events.DeviceCredentialsReplaced{},
		events.DeviceTransportLearned{}, events.DeviceUnreachable{}, events.DeviceRecovered{},
		events.DeviceBootstrapReported{}, events.DeviceRebootRequested{}, events.DeviceRebootStarted{},
		events.DeviceRebootAccepted{}, events.DeviceRebootConfirmed{}, events.DeviceRebootFailed{},
		events.DeviceDecommissioned{}, events.DevicePeriodClosed{}, events.ServiceRequested{},
		events.ServiceAddressingChanged{}, events.ServiceWalledGardenChanged{}, events.ServiceRecreationConfirmed{},
		events.ServiceTornDown{}, events.ServiceReconcileRequested{}, events.ServiceApplied{},
		events.ServiceApplyFailed{}, events.ServiceDriftDetected{}, events.ServiceDriftCleared{},
		events.ServiceSubnetLeft{}, events.ServiceSubnetsKept{}, events.ServiceSubnetsRetired{},
		events.ServiceRemovalRequested{}, events.ServiceRemoved{}, events.ServicePeriodClosed{},
		events.DeviceSetupApplied{}, events.DeviceSetupDrifted{}, events.DeviceSetupCleared{},
		events.DeviceDriftUnchecked{}, events.DeviceDriftChecked{},
		events.ReconcileRequested{}, events.ReconcileStarted{}, events.ReconcilePlanned{}, events.RouterWritten{},
		events.RouterWriteRefused{}, events.ReconcileFinished{}, events.ReconcilePeriodClosed{},
		events.AddressesAllocated{}, events.AddressesSettled{}, events.AddressesReleased{},
		events.AddressingDeviceClosed{}, events.AddressingPeriodClosed{},
		events.UpstreamChosen{}, events.TopologyPeriodClosed{},
	}
}

// access lists the events about who may use the network.
func access() []events.Event {
	return []events.Event{
		events.DunningPoliciesSet{}, events.DunningBegan{}, events.DunningReminded{}, events.WalledGardenEntered{},
		events.ServiceSuspended{}, events.WriteOffProposed{}, events.DunningEnded{}, events.HoldPlaced{},
		events.HoldLifted{}, events.DunningClockStopped{}, events.DunningClockStarted{}, events.DunningPeriodClosed{},
		events.DunningReviewed{}, events.DunningReviewAsked{}, events.VoucherBatchMade{}, events.VouchersAdded{},
		events.VoucherRedeemed{}, events.VoucherBeganEarlier{}, events.VoucherMoved{}, events.VoucherVoided{},
		events.FirstSessionBegan{}, events.CapWarned{}, events.CapReached{}, events.CapReset{}, events.CapPeriodMoved{},
		events.TopUpOrdered{}, events.TopUpAdded{}, events.UsagePeriodClosed{},
		events.SessionChangeAnnounced{}, events.SessionChanged{}, events.SessionChangeRefused{},
		events.EnforcementPeriodClosed{}, events.PaymentsInterrupted{}, events.PaymentsResumed{}, events.PlatformAway{},
		events.AccessDifferenceOpened{}, events.AccessDifferenceClosed{}, events.AccessRepairAsked{},
		events.AccessRepairWritten{}, events.AccessDifferencePeriodClosed{},
	}
}

// cpe lists the events of the equipment in customers' homes, and of the writes to it.
func cpe() []events.Event {
	return []events.Event{
		events.CpeIdentified{}, events.CpeDetailsLearned{}, events.CpeClaimed{}, events.CpeAssigned{},
		events.CpeDescribed{}, events.CpeSubscriberAssigned{}, events.CpeSubscriberRemoved{}, events.CpeReleased{},
		events.CpeFaultClearAsked{}, events.CpeSignInProven{}, events.CpeSignInEnded{}, events.CpeOperationMeasured{},
		events.CpeOperationQueued{}, events.CpeOperationBegan{}, events.CpeOperationSent{},
		events.CpeOperationConfirmed{}, events.CpeOperationFailed{}, events.CpeOperationExpired{},
		events.CpeFirmwareBegun{}, events.CpeFirmwareStored{}, events.CpeFirmwareRemoved{},
		events.CpeFirmwareDeleted{},
		events.CpeCampaignStarted{}, events.CpeCampaignDevicesListed{}, events.CpeCampaignDevicesSkipped{},
		events.CpeCampaignStopped{}, events.CpeCampaignContinued{}, events.CpeCampaignHalted{},
		events.CpeCampaignFinished{},
		events.CpeOnuAsked{}, events.CpeOnuStepDone{}, events.CpeOnuReady{}, events.CpeOnuFailed{},
		events.CpeOnuExpired{}, events.CpeOnuLeaving{}, events.CpeOnuTakenOut{}, events.CpeOnuPeriodClosed{},
		events.CpeProvisionWritten{}, events.CpeProvisionInstalled{}, events.CpeProvisionRefused{},
		events.CpeProvisionRemoved{}, events.CpeProvisionUninstalled{}, events.CpeProvisionPeriodClosed{},
	}
}

// outages lists the events of outages of the network and of what customers get for them.
func outages() []events.Event {
	return []events.Event{
		events.OutageBegan{}, events.OutageExtended{}, events.OutageNarrowed{}, events.OutageAnnounced{},
		events.OutageDescribed{},
		events.OutageEnded{},
		events.OutageRulesAdopted{},
		events.CompensationPreviewed{}, events.CompensationListed{}, events.CompensationApplied{},
		events.CompensationPartDone{}, events.CompensationFinished{},
	}
}

// messaging lists the events of messages to customers.
func messaging() []events.Event {
	return []events.Event{
		events.MessageQueued{}, events.MessageAddressed{}, events.MessageSent{}, events.MessageFailed{},
		events.MessageDropped{}, events.MessageDoubted{}, events.MessageDelivered{}, events.MessageUndelivered{},
		events.MessageSettingsSet{},
		events.SupportRequestOpened{}, events.SupportRequestContinued{}, events.SupportRequestAnswered{},
		events.SupportRequestNoted{}, events.SupportRequestAssigned{}, events.SupportRequestClosed{},
	}
}

// webhooks lists the events of endpoints of organizations' own systems.
func webhooks() []events.Event {
	return []events.Event{
		events.WebhookRegistered{}, events.WebhookAmended{}, events.WebhookSecretRotated{}, events.WebhookEnabled{},
		events.WebhookDisabled{}, events.WebhookPinged{}, events.WebhookRedeliveryAsked{}, events.WebhookRemoved{},
		events.WebhookPeriodClosed{},
	}
}

// claims lists the events of unique values, which no aggregate decides: the bus writes them.
func claims() []events.Event {
	return []events.Event{events.ClaimTaken{}, events.ClaimReleased{}}
}

// audit lists the events that only the audit log uses.
func audit() []events.Event {
	return []events.Event{events.RequestRefused{}, events.AddressLookedUp{}, events.HistoryRead{}}
}
