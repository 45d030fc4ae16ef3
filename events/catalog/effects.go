package catalog

import "github.com/lastmile-isp/lastmile/events"

// Effect says what can be otherwise after an event. Those who keep such things right or show them handle every event
// with the effect, or say why they need not: a test holds each of them against this table.
type Effect uint8

// The effects.
const (
	Access   Effect = 1 << iota // what a sign-in gets and a running session should have
	Routers                     // which routers may ask, from where and with which secrets
	PaidTime                    // whether and until when a subscription is paid, or that it rests or has ended
	Billing                     // what becomes due next, and when
	Debt                        // what is owed of an invoice
	Money                       // the balance of an account, or what became of money that left it
	Nothing  Effect = 0         // of these
)

// effects has each type of event once.
var effects = []struct {
	effect Effect
	of     []events.Event
}{
	{Access | PaidTime, []events.Event{
		events.SubscriptionCreated{}, events.SubscriptionActivated{}, events.SubscriptionExtended{},
		events.PaidTimeCarriedOver{}, events.PeriodWithdrawn{}, events.PeriodCancelled{}, events.SubscriptionPaused{},
		events.SubscriptionResumed{}, events.SubscriptionEnded{}, events.SubscriptionCompensated{},
		events.CompensationTakenBack{},
	}},
	{Access | PaidTime | Billing, []events.Event{
		events.SubscriptionPlanChanged{},
	}},
	{Access, []events.Event{
		events.SubscriberBlocked{}, events.SubscriberUnblocked{}, events.SubscriptionAddressesAssigned{},
		events.SubscriptionCredentialsSet{}, events.DunningBegan{}, events.WalledGardenEntered{},
		events.ServiceSuspended{}, events.WriteOffProposed{}, events.DunningEnded{}, events.DunningReviewed{},
		events.CapReached{}, events.CapReset{}, events.CapPeriodMoved{}, events.OrganizationCreated{},
		events.BillingSettingsAdopted{}, events.VoucherBatchMade{}, events.VouchersAdded{}, events.VoucherRedeemed{},
		events.VoucherBeganEarlier{}, events.VoucherMoved{}, events.VoucherVoided{},
	}},
	{Access | Money, []events.Event{
		events.SubscriberForgotten{},
	}},
	{Routers, []events.Event{
		events.DeviceRegistered{}, events.DeviceDetailsCorrected{}, events.DeviceCredentialsReplaced{},
		events.DeviceBootstrapReported{}, events.DeviceSetupApplied{}, events.DeviceDecommissioned{},
	}},
	{Billing, []events.Event{
		events.PeriodDue{}, events.PeriodReissued{}, events.UndoneWaitEnded{}, events.BillingSuspended{},
		events.BillingResumed{}, events.PlanChangePlanned{}, events.PlanChangeMoved{}, events.PlanChangeDropped{},
		events.ExtraAdded{}, events.ExtraRemoved{}, events.ChargesDue{},
	}},
	{Debt, []events.Event{
		events.InvoiceAllocated{}, events.AllocationWithdrawn{}, events.InvoicePaid{}, events.InvoiceReopened{},
		events.InvoiceCancelled{}, events.InvoiceWrittenOff{},
	}},
	{Debt | Money, []events.Event{
		events.InvoiceIssued{}, events.InvoiceVoided{}, events.BalanceCarriedOver{}, events.DebtWrittenOff{},
		events.WriteOffRecovered{}, events.RecoveryWithdrawn{},
	}},
	{Money, []events.Event{
		events.ReceiptCredited{}, events.ReceiptWithdrawn{}, events.CreditNoteIssued{}, events.CreditSetAside{},
		events.SetAsideReturned{}, events.SetAsidePaidOut{}, events.RecoveryWaived{}, events.RefundCompleted{},
	}},
	{Nothing, []events.Event{
		events.OrganizationRenamed{}, events.InvoicePrefixReleased{}, events.AdministratorSeated{},
		events.AdministratorReleased{}, events.OrganizationLogoChosen{}, events.OrganizationLogoRemoved{},
		events.OrganizationSuspended{}, events.OrganizationResumed{}, events.UserRegistered{},
		events.AddressKeptApart{}, events.AddressProven{}, events.UserDetailsCorrected{}, events.MembershipGranted{},
		events.MembershipDetailsCorrected{}, events.MembershipAccepted{}, events.MembershipRoleAssigned{},
		events.MembershipDisabled{}, events.MembershipEnabled{}, events.PasswordChanged{},
		events.TemporaryPasswordGiven{}, events.PortalAccessGiven{}, events.PortalAccessEnded{},
		events.UserForgotten{}, events.LoginEmailChanged{}, events.LoginPhoneChanged{}, events.SecondFactorEnrolled{},
		events.RecoveryCodeUsed{}, events.SecondFactorRemoved{}, events.SecondFactorRequired{},
		events.SecondFactorMadeOptional{}, events.ApprovalLimitSet{}, events.ApprovalLimitRemoved{},
		events.SessionStarted{}, events.SessionEnded{}, events.APIKeyIssued{}, events.APIKeyRotated{},
		events.APIKeyRevoked{}, events.SubscriberRegistered{}, events.SubscriberDetailsCorrected{},
		events.PlanCreated{}, events.PlanRevised{}, events.PlanArchived{}, events.SubscriptionCredentialsShown{},
		events.SubscriptionPeriodClosed{}, events.ImportAsked{}, events.ImportPartDone{}, events.ImportFinished{},
		events.ImportRowsLost{}, events.ImportBegunAgain{}, events.ExportFailed{}, events.PlanMoveAsked{},
		events.PlanMovePartDone{}, events.PlanMoveFinished{}, events.ExportAsked{}, events.ExportFinished{},
		events.ExportFetched{}, events.AccountOpened{}, events.AccountClosed{}, events.InvoiceDrafted{},
		events.CreditLeft{}, events.CreditNoteDrafted{}, events.PromptReserved{}, events.PromptReleased{},
		events.AccountPeriodClosed{}, events.CreditNoteVoided{}, events.NumberGranted{},
		events.NumberingPeriodClosed{}, events.BillingRunRequested{}, events.BillingRunBegan{},
		events.BillingRunHeld{}, events.BillingRunReleased{}, events.BillingRunFinished{}, events.BatchUndoAsked{},
		events.BatchUndoPartDone{}, events.BatchUndoFinished{}, events.FuseHeld{}, events.FuseReleased{},
		events.AllowanceUsed{}, events.AllowanceReturned{}, events.ApprovalRequested{}, events.ApprovalGranted{},
		events.ApprovalRefused{}, events.ApprovalWithdrawn{}, events.ApprovalExpired{}, events.ApprovalCarriedOut{},
		events.ApprovalFailed{}, events.TaxGatewayConfigured{}, events.TaxGatewayFailed{},
		events.TaxGatewayAnswered{}, events.SignatureQueued{}, events.SigningBegan{}, events.DocumentSigned{},
		events.SignatureRefused{}, events.SignatureRetried{}, events.SignatureWithdrawn{}, events.CancellationDue{},
		events.GatewayConfigured{}, events.GatewayRegistered{}, events.GatewayRegistrationFailed{},
		events.PaymentInitiated{}, events.PromptSubmitting{}, events.PromptAccepted{}, events.PromptInDoubt{},
		events.PromptChecked{}, events.PromptCheckRequested{}, events.PaymentSucceeded{}, events.ProvisionalClaimed{},
		events.ProvisionalSuperseded{}, events.PaymentPaidElsewhere{}, events.PaymentCancelled{},
		events.PaymentFailed{}, events.PaymentExpired{}, events.ReceiptRecorded{}, events.ReceiptSighted{},
		events.ReceiptDisputed{}, events.ReceiptMatched{}, events.ReceiptHeld{}, events.ReceiptAbsorbed{},
		events.ReceiptUnclaimed{}, events.ReceiptStalled{}, events.ReceiptAssigned{}, events.ReceiptClaimed{},
		events.ReceiptReversed{}, events.ReceiptReattributed{}, events.ReceiptSetAside{}, events.ReceiptReturned{},
		events.ReceiptRefunded{}, events.RefundRequested{}, events.RefundSecured{}, events.RefundApproved{},
		events.RefundFailed{}, events.RefundSubmitted{}, events.RefundAcknowledged{}, events.RefundDoubted{},
		events.ReconciliationStarted{}, events.ReconciliationCompared{}, events.ReconciliationFailed{},
		events.ReconciliationAdoptionStarted{}, events.ReconciliationAdopted{}, events.BillManagerOptedIn{},
		events.BillManagerConfigured{}, events.BillQueued{}, events.BillOffered{}, events.BillFreed{},
		events.BillDelayed{}, events.BillSent{}, events.BillFailed{}, events.BillRecalled{}, events.BillCancelled{},
		events.BillSettled{}, events.BillReopened{}, events.BillPaid{}, events.BillAcknowledged{},
		events.DeviceBootstrapShown{}, events.DeviceCustomersRead{}, events.DeviceTransportLearned{},
		events.DeviceUnreachable{}, events.DeviceRecovered{}, events.DeviceRebootRequested{},
		events.DeviceRebootStarted{}, events.DeviceRebootAccepted{}, events.DeviceRebootConfirmed{},
		events.DeviceRebootFailed{}, events.DevicePeriodClosed{}, events.ServiceRequested{},
		events.ServiceAddressingChanged{}, events.ServiceWalledGardenChanged{}, events.ServiceRecreationConfirmed{},
		events.ServiceTornDown{}, events.ServiceReconcileRequested{}, events.ServiceApplied{},
		events.ServiceApplyFailed{}, events.ServiceDriftDetected{}, events.ServiceDriftCleared{},
		events.ServiceSubnetLeft{}, events.ServiceSubnetsKept{}, events.ServiceSubnetsRetired{},
		events.ServiceRemovalRequested{}, events.ServiceRemoved{}, events.ServicePeriodClosed{},
		events.DeviceSetupDrifted{}, events.DeviceSetupCleared{}, events.DeviceDriftUnchecked{},
		events.DeviceDriftChecked{}, events.ReconcileRequested{}, events.ReconcileStarted{},
		events.ReconcilePlanned{}, events.RouterWritten{}, events.RouterWriteRefused{}, events.ReconcileFinished{},
		events.ReconcilePeriodClosed{}, events.AddressesAllocated{}, events.AddressesSettled{},
		events.AddressesReleased{}, events.AddressingDeviceClosed{}, events.AddressingPeriodClosed{},
		events.UpstreamChosen{}, events.TopologyPeriodClosed{}, events.DunningPoliciesSet{}, events.DunningReminded{},
		events.HoldPlaced{}, events.HoldLifted{}, events.DunningClockStopped{}, events.DunningClockStarted{},
		events.DunningPeriodClosed{}, events.DunningReviewAsked{}, events.FirstSessionBegan{}, events.CapWarned{},
		events.TopUpOrdered{}, events.TopUpAdded{}, events.UsagePeriodClosed{}, events.SessionChangeAnnounced{},
		events.SessionChanged{}, events.SessionChangeRefused{}, events.EnforcementPeriodClosed{},
		events.PaymentsInterrupted{}, events.PaymentsResumed{}, events.PlatformAway{},
		events.AccessDifferenceOpened{}, events.AccessDifferenceClosed{}, events.AccessRepairAsked{},
		events.AccessRepairWritten{}, events.AccessDifferencePeriodClosed{}, events.CpeIdentified{},
		events.CpeDetailsLearned{}, events.CpeClaimed{}, events.CpeAssigned{}, events.CpeDescribed{},
		events.CpeSubscriberAssigned{}, events.CpeSubscriberRemoved{}, events.CpeReleased{},
		events.CpeFaultClearAsked{}, events.CpeSignInProven{}, events.CpeSignInEnded{}, events.CpeOperationMeasured{},
		events.CpeOperationQueued{}, events.CpeOperationBegan{}, events.CpeOperationSent{},
		events.CpeOperationConfirmed{}, events.CpeOperationFailed{}, events.CpeOperationExpired{},
		events.CpeFirmwareBegun{}, events.CpeFirmwareStored{}, events.CpeFirmwareRemoved{},
		events.CpeFirmwareDeleted{}, events.CpeCampaignStarted{}, events.CpeCampaignDevicesListed{},
		events.CpeCampaignDevicesSkipped{}, events.CpeCampaignStopped{}, events.CpeCampaignContinued{},
		events.CpeCampaignHalted{}, events.CpeCampaignFinished{}, events.CpeOnuAsked{}, events.CpeOnuStepDone{},
		events.CpeOnuReady{}, events.CpeOnuFailed{}, events.CpeOnuExpired{}, events.CpeOnuLeaving{},
		events.CpeOnuTakenOut{}, events.CpeOnuPeriodClosed{}, events.CpeProvisionWritten{},
		events.CpeProvisionInstalled{}, events.CpeProvisionRefused{}, events.CpeProvisionRemoved{},
		events.CpeProvisionUninstalled{}, events.CpeProvisionPeriodClosed{}, events.OutageBegan{},
		events.OutageExtended{}, events.OutageNarrowed{}, events.OutageAnnounced{}, events.OutageDescribed{},
		events.OutageEnded{}, events.OutageRulesAdopted{}, events.CompensationPreviewed{},
		events.CompensationListed{}, events.CompensationApplied{}, events.CompensationPartDone{},
		events.CompensationFinished{}, events.MessageQueued{}, events.MessageAddressed{}, events.MessageSent{},
		events.MessageFailed{}, events.MessageDropped{}, events.MessageDoubted{}, events.MessageDelivered{},
		events.MessageUndelivered{}, events.MessageSettingsSet{}, events.SupportRequestOpened{},
		events.SupportRequestContinued{}, events.SupportRequestAnswered{}, events.SupportRequestNoted{},
		events.SupportRequestAssigned{}, events.SupportRequestClosed{}, events.WebhookRegistered{},
		events.WebhookAmended{}, events.WebhookSecretRotated{}, events.WebhookEnabled{}, events.WebhookDisabled{},
		events.WebhookPinged{}, events.WebhookRedeliveryAsked{}, events.WebhookRemoved{},
		events.WebhookPeriodClosed{}, events.ClaimTaken{}, events.ClaimReleased{}, events.RequestRefused{},
		events.AddressLookedUp{}, events.HistoryRead{},
	}},
}

// With lists the types of events that have at least one of the effects, in the order of the table.
func With(any Effect) (types []string) {
	for _, row := range effects {
		if row.effect&any == 0 {
			continue
		}
		for _, e := range row.of {
			types = append(types, e.EventType())
		}
	}
	return types
}
