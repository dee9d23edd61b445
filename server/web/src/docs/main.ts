import { applyTheme } from "../shared/theme";

applyTheme();
