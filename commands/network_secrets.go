package commands

import (
	"log/slog"

	"github.com/lastmile-isp/lastmile/events"
)

// DeviceSecretPurpose is the vault's purpose of a router's secret of a kind.
func DeviceSecretPurpose(kind events.CredentialKind) string { return "device_" + string(kind) }

// DeviceAPICredentials is what a device's API reference refers to in the vault, as JSON.
type DeviceAPICredentials struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// String hides the password.
func (DeviceAPICredentials) String() string { return "device API credentials" }

// GoString hides the password.
func (DeviceAPICredentials) GoString() string { return "device API credentials" }

// LogValue hides the password.
func (DeviceAPICredentials) LogValue() slog.Value {
	return slog.StringValue("device API credentials")
}
