"""What people see and press: confirmations, panels, modals. Shared by the cogs; decides nothing."""
