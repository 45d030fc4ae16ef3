package main

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// openKeyring reads the platform keys of the configuration. Without one, in development, it makes a key and keeps it in
// DATA_DIR.
func openKeyring(cfg Config) (*secrets.Keyring, error) {
	if cfg.EncryptionKey.IsZero() {
		ring, err := secrets.LoadOrCreate(cfg.DataDir)
		if err != nil {
			return nil, fmt.Errorf("platform key: %w", err)
		}
		return ring, nil
	}
	previous := make([]string, len(cfg.PreviousEncryptionKeys))
	for i, k := range cfg.PreviousEncryptionKeys {
		previous[i] = k.Reveal()
	}
	ring, err := secrets.Parse(cfg.EncryptionKey.Reveal(), previous...)
	if err != nil {
		return nil, fmt.Errorf("PLATFORM_ENCRYPTION_KEY: %w", err)
	}
	return ring, nil
}

// signingKey gives the key that signs access tokens: JWT_SIGNING_KEY, or in development a key derived from the vault's
// root secret, which is the same in every replica.
func signingKey(cfg Config, v *vault.Vault) []byte {
	if cfg.JWTSigningKey.IsZero() {
		return v.Key(secrets.Tokens)
	}
	return secrets.Derive([]byte(cfg.JWTSigningKey.Reveal()), secrets.Tokens)
}
