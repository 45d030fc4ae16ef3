import { type CSSVariablesResolver, createTheme } from '@mantine/core'
import { leavesMenu } from '../ui/useFocusBack'

/** theme sets the form of web.md: one type size scale, a grid of 4 px, calm colours. */
export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: 9, // white on it has a contrast of 5.5:1
  defaultRadius: 'sm',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  headings: { fontWeight: '600' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', comboboxProps: { shadow: 'md' } } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.4 } } },
    // A header would be a second banner of the page: dialogs stand outside of its landmarks.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
    // Focus goes to a menu's first entry; the library's own place for it is nothing that a menu may hold.
    // It is drawn within the page's content, which readers know as its landmark.
    Menu: { defaultProps: { portalProps: { target: '#content' }, withInitialFocusPlaceholder: false, returnFocus: false, onClose: leavesMenu } },
    Anchor: { defaultProps: { underline: 'hover' } },
  },
})

/** readable makes the library's grey text, and that of faults, dark enough to be read in the sun. */
export const readable: CSSVariablesResolver = () => ({
  variables: {},
  light: { '--mantine-color-error': 'var(--tone-bad)', '--mantine-color-dimmed': '#5c636a', '--mantine-color-placeholder': '#6b7278' },
  dark: { '--mantine-color-error': 'var(--tone-bad)', '--mantine-color-dimmed': '#a3abb2', '--mantine-color-placeholder': '#949ca3' },
})
