import { createContext, useContext } from "react";
import type { Open } from "./Shell";

export const ShellContext = createContext<{ dialog: Open; setDialog: (open: Open) => void }>({
  dialog: "none",
  setDialog: () => {},
});

export const useShell = () => useContext(ShellContext);
